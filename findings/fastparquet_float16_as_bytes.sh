#!/usr/bin/env bash
# Expected: "A column of float16 in a Parquet file is numbers, whichever engine pandas reads it with."
# Seen on 2026-12-01: with fastparquet each number is a text of two bytes in a column of objects, 1.0 being b'\x00<',
# without a message. pyarrow, which wrote the file, reads float16. So does pandas with its usual engine.
# Hurts: who keeps features in float16, and reads them with fastparquet or what is built on it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  fastparquet==2026.9.0 pyarrow==25.0.1 pandas==3.1.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import fastparquet
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

print(*(f"{name} {version(name)}" for name in ("fastparquet", "pyarrow", "pandas")))
pq.write_table(pa.table({"feature": np.array([1, 0.5, -2], np.float16)}), "features.parquet")
seen = {
    "fastparquet": fastparquet.ParquetFile("features.parquet").to_pandas()["feature"],
    "pandas": pd.read_parquet("features.parquet")["feature"],
}
for reader, column in seen.items():
    print(reader, column.dtype, column.tolist())
assert seen["pandas"].dtype == np.float16 and seen["pandas"].tolist() == [1, 0.5, -2]
assert seen["fastparquet"].tolist() == [np.float16(value).tobytes() for value in (1, 0.5, -2)]
PYTHON

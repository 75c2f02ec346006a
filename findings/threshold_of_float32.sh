#!/usr/bin/env bash
# Guess, written before the run: "A score of .7 in float32 is kept by score >= .7 in each tool, or in none."
# Seen on 2026-11-30: NumPy and DuckDB keep it, and pyarrow's filter drops it, as it compares in float64, where .7 of
# float32 is a little less. DuckDB drops it too if .7 is a parameter and not in the text of the query, and NumPy if .7
# is a np.float64, as those of np.linspace are. For .1 all keep it, as .1 of float32 is a little more.
# Hurts: who filters boxes or pairs by a rounded score or IoU: the same Parquet file and threshold give other rows.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  duckdb==2.0.1 numpy==2.4.6 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

print("duckdb", duckdb.__version__, "numpy", np.__version__, "pyarrow", pa.__version__)
scores = np.array([0.1, 0.7, 0.9], np.float32)
parquet.write_table(pa.table({"score": scores}), "scores.parquet")
count, found = "select count(*) from 'scores.parquet' where score >= ", {}
for least in (0.1, 0.7, 0.9):
    found[least] = {
        "numpy": int((scores >= least).sum()),
        "numpy, float64": int((scores >= np.float64(least)).sum()),
        "pyarrow": parquet.read_table("scores.parquet", filters=[("score", ">=", least)]).num_rows,
        "duckdb": duckdb.sql(f"{count}{least}").fetchall()[0][0],
        "duckdb, parameter": duckdb.execute(f"{count}?", [least]).fetchall()[0][0],
    }
    print(least, found[least])
assert list(found[0.1].values()) == [3, 3, 3, 3, 3]
assert list(found[0.7].values()) == [2, 1, 1, 2, 1] and list(found[0.9].values()) == [1, 0, 0, 1, 0]
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "With the format numpy, a row and a slice of a float64 column have one type,
# float64."
# Seen on 2026-11-29: a row gives float64, a slice, a batch and a list in a row give float32: the score 1073741825 is
# 1073741824 in a slice. Whole numbers stay int64.
# Hurts: who reads scores or box corners by slices: ties appear, and a loop over rows ranks otherwise than the slice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  datasets==5.2.0 numpy==2.4.6 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import datasets
import numpy as np

print("datasets", datasets.__version__, "numpy", np.__version__)
rows = datasets.Dataset.from_dict({"score": [2.0**30, 2.0**30 + 1], "vector": [[0.1], [0.2]]}).with_format("numpy")
row, part = rows[1], rows[:]
print("row:", row["score"].dtype, row["score"], row["vector"].dtype, "slice:", part["score"].dtype, part["score"])
assert row["score"].dtype == np.float64 and row["score"] == 2**30 + 1
assert part["score"].dtype == row["vector"].dtype == np.float32 and part["score"][0] == part["score"][1]
PYTHON

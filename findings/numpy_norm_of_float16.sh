#!/usr/bin/env bash
# Guess, written before the run: "numpy.linalg.norm of a float16 vector of length 452 is 452, as numpy.mean
# accumulates float16 in float32."
# Seen on 2026-11-29: mean is right (20), norm is inf with a RuntimeWarning, as the squares are summed in float16,
# whose largest number is 65,504. So every vector of 256 or longer has the norm inf, and dividing by it gives zeros.
# Hurts: who stores features as float16 to halve their files, and normalises what was read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np

print("numpy", np.__version__)
vector = np.full(512, 20, np.float16)
norm, mean, wide = np.linalg.norm(vector), vector.mean(), np.linalg.norm(vector.astype(np.float32))
print("norm:", norm, "mean:", mean, "norm of the same in float32:", wide, "normalised:", (vector / norm)[:3])
assert np.isinf(norm) and mean == 20 and 452 < wide < 453
assert not (vector / norm).any()
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "safetensors.numpy saves an array as NumPy prints it, whatever its strides."
# Seen on 2026-11-30: version 0.8.0 stores the bytes of some arrays in another order, without a message: [[0, 1, 2],
# [3, 4, 5]] in Fortran's order comes back as [[0, 3, 1], [4, 2, 5]], and as it is after numpy.ascontiguousarray.
# Version 0.7.0 stored both right.
# Hurts: who saves a transposed matrix of scores or a view of features: the values are all there, and each is at
# another's place.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 safetensors==0.8.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

print("safetensors", safetensors.__version__, "numpy", np.__version__)
scores = np.asfortranarray(np.arange(6.0).reshape(2, 3))
save_file({"as it is": scores, "copied": np.ascontiguousarray(scores)}, "scores.safetensors")
found = {name: values.tolist() for name, values in load_file("scores.safetensors").items()}
print("saved:", scores.tolist(), "found:", found)
assert found["copied"] == scores.tolist()
assert found["as it is"] == [[0, 3, 1], [4, 2, 5]]
PYTHON

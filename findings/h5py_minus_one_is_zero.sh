#!/usr/bin/env bash
# Guess, written before the run: "A label of -1 in a dataset of uint8 is refused, or is 255 as NumPy has it."
# Seen on 2026-11-30: h5py writes -1 as 0 and 300 as 255: the library below takes the nearest number that the type
# has, without a message. NumPy's astype makes 255 of -1, and 44 of 300.
# Hurts: who stores labels of which -1 means none, as of regions without a class: each of them has the first class.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  h5py==3.16.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import h5py
import numpy as np

print("h5py", h5py.__version__, "HDF5", h5py.version.hdf5_version, "numpy", np.__version__)
labels = np.array([-1, 300, 7])
with h5py.File("labels.h5", "w") as file:
    file.create_dataset("labels", (3,), "u1")[...] = labels
    stored = file["labels"][...].tolist()
cast = labels.astype(np.uint8).tolist()
print("h5py:", stored, "numpy:", cast)
assert stored == [0, 255, 7] and cast == [255, 44, 7]
PYTHON

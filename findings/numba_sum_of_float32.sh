#!/usr/bin/env bash
# Numba's page on floating point says of results other than NumPy's: "The difference should generally be small and
# within reasonable expectations."
# Seen on 2026-11-29: numpy.sum in a compiled function stops at 16,777,216, so the mean of 20,000,000 ones is .84;
# NumPy itself gives 20,000,000 and 1. Guess, written before the run: as NumPy.
# Hurts: who moves a mean over pixels or scores in float32 into a compiled loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numba==0.68.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numba
import numpy as np


@numba.njit
def reduce(values):
    return np.sum(values), np.mean(values)


ones = np.ones(20_000_000, np.float32)
total, mean = reduce(ones)
print("numba", numba.__version__, "numpy", np.__version__)
print("compiled:", total, mean, "NumPy:", ones.sum(), ones.mean())
assert total == 16_777_216 and abs(mean - 0.8388608) < 1e-6
assert ones.sum() == 20_000_000 and ones.mean() == 1
PYTHON

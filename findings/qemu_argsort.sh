#!/usr/bin/env bash
# Guess, written before the run: "an emulated processor with AVX2 is slow, and computes what a real one computes."
# Seen on 2026-11-30: qemu 7.2 emulates AVX2 for the first time, and numpy.argsort of 128 float64 is out of order there;
# numpy.sort is right, and so is argsort where NumPy is told not to use AVX2. A real processor sorts the same numbers.
# Hurts: who tests on an emulated processor whether a program has the same results: numpy.unique with return_inverse
# and pandas sort by argsort too.
set -euo pipefail
command -v qemu-x86_64 || { echo "qemu-x86_64 is not installed; on Debian and Ubuntu: apt-get install qemu-user"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6
cd "$folder"
qemu-x86_64 --version | head -1
cat > sorts.py <<'PYTHON'
import sys

import numpy as np

numbers = np.random.default_rng(0).random(128)
rises = [bool((np.diff(found) >= 0).all()) for found in (np.sort(numbers), numbers[np.argsort(numbers)])]
print("numpy", np.__version__, sys.argv[1], "sort:", rises[0], "argsort:", rises[1])
assert rises == [True, sys.argv[1] != "emulated"]
PYTHON
venv/bin/python sorts.py native
qemu-x86_64 -cpu Haswell venv/bin/python sorts.py emulated 2> warnings
NPY_DISABLE_CPU_FEATURES=X86_V3 qemu-x86_64 -cpu Haswell venv/bin/python sorts.py "emulated without AVX2" 2> warnings

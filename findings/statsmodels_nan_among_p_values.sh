#!/usr/bin/env bash
# Guess, written before the run: "A test without a p value, NaN, is left out of a correction, or makes all of it NaN."
# Seen on 2026-11-30: by Benjamini and Hochberg all corrected values are NaN, and reject is still True for the same
# tests. By Holm the NaN counts as a test, so that p of .03 is .06 and no longer below .05.
# Hurts: who corrects many comparisons, one of which has no spread: the table says that all are unknown, or one
# verdict flips.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 statsmodels==0.15.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from statsmodels.stats.multitest import multipletests

print("statsmodels", version("statsmodels"))
found = {
    (method, len(values)): multipletests(values, method=method)[:2]
    for method in ("fdr_bh", "holm")
    for values in ([0.01, 0.03], [0.01, 0.03, float("nan")])
}
for key, (reject, corrected) in found.items():
    print(*key, reject, corrected)
reject, corrected = found["fdr_bh", 3]
assert np.isnan(corrected).all() and reject.tolist() == [True, True, False]
assert found["holm", 2][0].tolist() == [True, True]
assert found["holm", 3][0].tolist() == [True, False, False]
assert np.allclose(found["holm", 3][1][:2], [0.03, 0.06])
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "The Euclidean distance of two vectors of uint8 is the root of scipy's squared one,
# and has one value both ways."
# Seen on 2026-11-30: `euclidean` and `cityblock` take the difference in the vectors' own type, where 50 - 52 is 254,
# and `sqeuclidean` and `cdist` do not: (50, 50) is 359.2 from (52, 52), and 2.8 in the other direction.
# Hurts: who compares quantised vectors, local features of uint8 or histograms two at a time: the nearest one is wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 scipy==1.17.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import scipy
from scipy.spatial import distance

print("scipy", scipy.__version__, "numpy", np.__version__)
query, near, far = np.full((3, 2), [[50], [52], [0]], np.uint8)
found = {
    "euclidean": distance.euclidean(query, near),
    "other direction": distance.euclidean(near, query),
    "root of sqeuclidean": distance.sqeuclidean(query, near) ** 0.5,
    "cdist": distance.cdist([query], [near]).item(),
    "far": distance.euclidean(query, far),
    "cityblock": distance.cityblock(query, near),
}
found = {name: round(float(value), 1) for name, value in found.items()}
print(found)
assert found["other direction"] == found["root of sqeuclidean"] == found["cdist"] == 2.8
assert found["euclidean"] == 359.2 and found["far"] == 70.7 and found["cityblock"] == 508
PYTHON

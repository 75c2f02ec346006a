#!/usr/bin/env bash
# Expected: "A template of one colour, for which the formula of TM_CCOEFF_NORMED is 0/0, is found nowhere, or the
# result is NaN."
# Seen on 2026-11-30: it is found everywhere, with the greatest score that there is: all places have 1, in black as in
# white and noise. TM_CCOEFF gives 0, about, and match_template of scikit-image 0. See issue 5688 of opencv/opencv.
# Hurts: who looks for the place of a crop, or for copies of an image, with a threshold: a crop of clear sky or of a
# white margin is found in every picture, at the upper left corner.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 opencv-python-headless==5.0.0.93 scikit-image==0.26.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import cv2
import numpy as np
from skimage.feature import match_template

print("opencv", cv2.__version__, "scikit-image", version("scikit-image"))
noise = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
crop = np.full((5, 5), 128, np.uint8)
for name, picture in {"noise": noise, "black": np.zeros_like(noise), "white": np.full_like(noise, 255)}.items():
    normed, plain = (cv2.matchTemplate(picture, crop, kind) for kind in (cv2.TM_CCOEFF_NORMED, cv2.TM_CCOEFF))
    found = [np.unique(scores).tolist() for scores in (normed, match_template(picture, crop))]
    print(name, "scores of OpenCV:", found[0], "of scikit-image:", found[1])
    assert found == [[1.0], [0.0]] and abs(plain).max() < 1
textured = crop.copy()
textured[2, 2] = 129
best = float(cv2.matchTemplate(noise, textured, cv2.TM_CCOEFF_NORMED).max())
print("with one other pixel:", round(best, 2))
assert best < 0.9
PYTHON

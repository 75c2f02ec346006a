#!/usr/bin/env bash
# Guess, written before the run: "The polygon of a square of 10 x 10 pixels is a mask of 100 pixels."
# Seen on 2026-11-30: it is 100 pixels by pycocotools, and 121 by OpenCV, Pillow and scikit-image, which also fill
# what lies on the last row and column. The two masks of one polygon have an IoU of .83.
# Hurts: who compares masks or boxes of two tools at a threshold of IoU: of an object of 10 pixels a fifth is lost
# before a model is asked.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 opencv-python-headless==5.0.0.93 pillow==13.0.0 pycocotools==2.0.11 scikit-image==0.26.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import cv2
import numpy as np
import pycocotools.mask
from PIL import Image, ImageDraw
from skimage.draw import polygon2mask

for name in ("opencv-python-headless", "pillow", "pycocotools", "scikit-image"):
    print(name, version(name))
corners, side = [(2, 2), (12, 2), (12, 12), (2, 12)], 20
drawn = Image.new("L", (side, side))
ImageDraw.Draw(drawn).polygon(corners, fill=1)
filled = cv2.fillPoly(np.zeros((side, side), np.uint8), [np.array(corners, np.int32)], 1)
encoded = pycocotools.mask.frPyObjects([[float(number) for corner in corners for number in corner]], side, side)
masks = {
    "pycocotools": pycocotools.mask.decode(encoded)[:, :, 0],
    "opencv": filled,
    "pillow": np.asarray(drawn),
    "scikit-image": polygon2mask((side, side), [(y, x) for x, y in corners]),
}
areas = {name: int(mask.sum()) for name, mask in masks.items()}
ours, theirs = masks["pycocotools"].astype(bool), filled.astype(bool)
overlap = (ours & theirs).sum() / (ours | theirs).sum()
print(areas, "IoU of pycocotools and OpenCV:", overlap.round(2))
assert areas == {"pycocotools": 100, "opencv": 121, "pillow": 121, "scikit-image": 121}
assert overlap.round(2) == 0.83
PYTHON

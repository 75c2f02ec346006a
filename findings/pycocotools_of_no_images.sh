#!/usr/bin/env bash
# pycocotools says of getAnnIds: "imgIds (int array) : get anns for given imgs". Guess, written before the run: "No
# images have no annotations."
# Seen on 2026-11-30: getAnnIds(imgIds=[]) gives the annotations of all images, getImgIds(catIds=[]) all images, and
# getCatIds(catIds=[]) all categories. An image without annotations has none, as it should.
# Hurts: who counts the boxes of the images that a filter left, where it left none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 pycocotools==2.0.11
cd "$folder"
venv/bin/python - <<'PYTHON'
import contextlib
import io
import json

import numpy as np
from importlib.metadata import version
from pycocotools.coco import COCO

print("pycocotools", version("pycocotools"), "numpy", np.__version__)
captions = {
    "images": [{"id": 5, "file_name": "5.jpg", "height": 9, "width": 9}],
    "annotations": [{"id": 1, "image_id": 5, "category_id": 2, "bbox": [0, 0, 2, 2], "area": 4, "iscrowd": 0}],
    "categories": [{"id": 2, "name": "dog"}],
}
with open("annotations.json", "w") as file:
    json.dump(captions, file)
with contextlib.redirect_stdout(io.StringIO()):
    coco = COCO("annotations.json")

found = [coco.getAnnIds(imgIds=[]), coco.getImgIds(catIds=[]), coco.getCatIds(catIds=[])]
print("of an empty list:", found, "of an image that is not there:", coco.getAnnIds(imgIds=[6]))
assert found == [[1], [5], [2]] and coco.getAnnIds(imgIds=[6]) == []
PYTHON

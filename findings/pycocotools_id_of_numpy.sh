#!/usr/bin/env bash
# Guess, written before the run: "loadImgs takes an id as pandas and NumPy have it, or raises an error."
# Seen on 2026-11-30: of the id 5 as np.int64 it returns None, without an error; of the int 5, or of a list with the
# np.int64, it returns the image. loadAnns and loadCats do the same, and getAnnIds takes all three.
# Hurts: who takes ids from a data frame: the None comes to light elsewhere, or nowhere where a missing image is left
# out.
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

found = [coco.loadImgs(np.int64(5)), coco.loadAnns(np.int64(1)), coco.loadCats(np.int64(2))]
print(found, coco.loadImgs(5), coco.loadImgs([np.int64(5)]), coco.getAnnIds(imgIds=np.int64(5)))
assert found == [None, None, None]
assert coco.loadImgs(5) == coco.loadImgs([np.int64(5)]) == captions["images"]
assert coco.getAnnIds(imgIds=np.int64(5)) == [1]
PYTHON

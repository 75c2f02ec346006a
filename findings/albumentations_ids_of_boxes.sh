#!/usr/bin/env bash
# Expected: "The label fields of boxes come out as they went in, for the boxes that are kept."
# Seen on 2026-11-30: numbers pass through an array of float32, even if nothing is done to the picture: the ids
# 1000092795 and 1000092799 are both 1000092800. Of a list they come out as floats, and of an array of int64 as
# integers again, of which nothing shows that they are others. The same ids as texts stay as they are.
# Hurts: who gives boxes the id of a photograph of Flickr or of an annotation, of which MS-COCO has ids above
# 900,000,000,000, to find them again after a crop: the id is that of another one or of none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  albumentations==2.0.8 numpy==2.4.6 opencv-python-headless==5.0.0.93
cd "$folder"
NO_ALBUMENTATIONS_UPDATE=1 venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import albumentations
import numpy as np

print("albumentations", version("albumentations"))
picture, boxes = np.zeros((100, 100, 3), np.uint8), [[10, 10, 20, 20], [30, 30, 50, 50]]


def after(ids):
    parameters = albumentations.BboxParams(format="pascal_voc", label_fields=["ids"])
    nothing = albumentations.Compose([albumentations.NoOp()], bbox_params=parameters)
    found = nothing(image=picture, bboxes=boxes, ids=ids)["ids"]
    print(repr(ids), "->", repr(found))
    return found


flickr = [1000092795, 1000092799]
assert after(flickr) == [1000092800.0] * 2
assert after([900100184613, 16777217]) == [900100194304.0, 16777216.0]
array = after(np.array(flickr))
assert array.dtype == np.int64 and array.ravel().tolist() == [1000092800] * 2
assert after([str(number) for number in flickr]) == ["1000092795", "1000092799"]
PYTHON

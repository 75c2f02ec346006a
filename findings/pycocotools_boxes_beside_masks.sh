#!/usr/bin/env bash
# Expected: "The average precision of masks does not depend on whether the results also have
# boxes, as masks are compared."
# Seen on 2026-11-30: it does for small, medium and large objects: the size of a result is that of its mask, and that
# of its box if it has one. A wrong thin mask of 550 pixels with a box of 3,300 no longer counts among the small ones,
# so their average precision is 1 with the boxes and .5 without. That of all sizes is .5 both times. See pull
# request 4898 of open-mmlab/mmdetection.
# Hurts: who writes boxes and masks into one file of results: rows by size differ from those of a file of masks alone.
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
from importlib.metadata import version

import numpy as np
import pycocotools.mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

print("pycocotools", version("pycocotools"))
right, wrong = np.zeros((2, 100, 100), np.uint8)
right[:60, :5] = right[:5, :60] = 1
wrong[90:95, 30:90] = wrong[40:95, 85:90] = 1
masks = [pycocotools.mask.encode(np.asfortranarray(mask)) for mask in (right, wrong)]
boxes = [pycocotools.mask.toBbox(mask).tolist() for mask in masks]
found = {}
for beside in (False, True):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {"images": [{"id": 1, "height": 100, "width": 100}], "categories": [{"id": 1}]}
        area = int(right.sum())
        one = {"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0}
        truth.dataset["annotations"] = [{**one, "segmentation": masks[0], "bbox": boxes[0], "area": area}]
        truth.createIndex()
        results = [
            {"image_id": 1, "category_id": 1, "score": score, "segmentation": mask, **({"bbox": box} if beside else {})}
            for score, mask, box in zip((0.8, 0.9), masks, boxes, strict=True)
        ]
        evaluation = COCOeval(truth, truth.loadRes(results), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    found[beside] = {"all": round(float(evaluation.stats[0]), 2), "small": round(float(evaluation.stats[3]), 2)}
    print("with boxes:" if beside else "masks alone:", found[beside])
assert (int(wrong.sum()), boxes[1]) == (550, [30.0, 40.0, 60.0, 55.0])
assert found == {False: {"all": 0.5, "small": 0.5}, True: {"all": 0.5, "small": 1.0}}
PYTHON

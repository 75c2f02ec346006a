#!/usr/bin/env bash
# Expected: "A file of MS-COCO's annotations that is read and written again has the same boxes, crowds and ids, or there
# is a message."
# Seen on 2026-12-01: the flag of a crowd is lost, so the crowd is an object that must be found, and the annotations are
# numbered anew from 0, an id that pycocotools never matches. Results that equal the two objects have an average
# precision of 1 with the file as it was, and of .17 with the file as it is written. There is no message.
# Hurts: who converts or filters boxes of MS-COCO by globox, and then evaluates a detector.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check globox==2.9.0 pycocotools==2.0.11 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import contextlib
import io
import json
from importlib.metadata import version

from globox import AnnotationSet
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

print(*(f"{name} {version(name)}" for name in ("globox", "pycocotools")))
boxes = [(1, [10, 10, 40, 40], 0), (2, [60, 10, 40, 40], 0), (3, [10, 60, 90, 30], 1)]
annotations = [
    {"id": number, "image_id": 5, "category_id": 1, "bbox": box, "area": box[2] * box[3], "iscrowd": crowd}
    for number, box, crowd in boxes
]
images = [{"id": 5, "file_name": "5.jpg", "width": 120, "height": 100}]
categories = [{"id": 1, "name": "person"}]
with open("given.json", "w") as file:
    json.dump({"images": images, "annotations": annotations, "categories": categories}, file)
AnnotationSet.from_coco("given.json").save_coco("written.json")

results = [
    {"image_id": 5, "category_id": 1, "bbox": box, "score": score}
    for (_, box, crowd), score in zip(boxes, (0.9, 0.8, 0.7))
    if not crowd
]
seen = {}
for name in ("given", "written"):
    with open(f"{name}.json") as file:
        found = [(one["id"], one["iscrowd"]) for one in json.load(file)["annotations"]]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(f"{name}.json")
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    seen[name] = found, round(float(evaluation.stats[0]), 3)
    print(name, "(id, iscrowd)", *found, "average precision", seen[name][1])
assert seen == {"given": ([(1, 0), (2, 0), (3, 1)], 1.0), "written": ([(0, 0), (1, 0), (2, 0)], 0.168)}
PYTHON

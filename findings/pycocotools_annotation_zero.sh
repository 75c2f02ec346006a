#!/usr/bin/env bash
# Guess, written before the run: "Boxes that equal the annotations have an average precision and a recall of 1,
# whatever the ids of the annotations."
# Seen on 2026-11-30: with the ids 0 and 1, two perfect boxes have an average precision of .25 and a recall of .5;
# with the ids 1 and 2 they have 1. The id of the annotation that a box matches is stored, and 0 means that it matches
# none.
# Hurts: who writes annotations with ids from enumerate, as for regions of phrases: one box counts as wrong, of few
# images the mean is far too low, and there is no message.
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

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

print("pycocotools", version("pycocotools"))
box = {"category_id": 1, "bbox": [0, 0, 10, 10]}
found = {}
for first in (0, 1):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {"images": [{"id": 1}, {"id": 2}], "categories": [{"id": 1}]}
        truth.dataset["annotations"] = [
            {"id": first + number, "image_id": number + 1, "area": 100, "iscrowd": 0, **box} for number in (0, 1)
        ]
        truth.createIndex()
        guesses = truth.loadRes([{"image_id": 1, "score": 0.9, **box}, {"image_id": 2, "score": 0.8, **box}])
        evaluation = COCOeval(truth, guesses, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    found[first] = [round(float(evaluation.stats[place]), 2) for place in (0, 8)]
print("average precision and recall, by the first id:", found)
assert found == {0: [0.25, 0.5], 1: [1.0, 1.0]}
PYTHON

#!/usr/bin/env bash
# pycocotools says of getCatIds: "get cats for given cat names". Guess, written before the run: "The name hot dog
# gives the category hot dog."
# Seen on 2026-11-30: getCatIds(catNms='hot dog') gives dog and hot dog, and 'teddy bear' gives bear too: a text is
# taken for a list, and each category whose name is a part of it is found. ['hot dog'] gives hot dog alone.
# Hurts: who counts or filters the images of a category by its name: those of dogs are among the hot dogs, without a
# message.
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
from importlib.metadata import version

from pycocotools.coco import COCO

print("pycocotools", version("pycocotools"))
names = ["dog", "bear", "hot dog", "teddy bear"]
categories = [{"id": number, "name": name, "supercategory": "thing"} for number, name in enumerate(names)]
with open("annotations.json", "w") as file:
    json.dump({"images": [], "annotations": [], "categories": categories}, file)
with contextlib.redirect_stdout(io.StringIO()):
    coco = COCO("annotations.json")
found = {str(asked): [names[number] for number in coco.getCatIds(catNms=asked)] for asked in (*names, ["hot dog"])}
print(found)
assert found == {
    "dog": ["dog"],
    "bear": ["bear"],
    "hot dog": ["dog", "hot dog"],
    "teddy bear": ["bear", "teddy bear"],
    "['hot dog']": ["hot dog"],
}
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "A caption that equals its reference has the greatest CIDEr, 10."
# Seen on 2026-11-30: it has 0 if it is the only image, or if all images have the same reference: a word in the
# references of every image has the weight log 1. With one other image it has 10.
# Hurts: who scores one caption, or a few images of one kind, and reads 0 as a wrong caption.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 pycocoevalcap==1.2
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from pycocoevalcap.cider.cider import Cider

print("pycocoevalcap", version("pycocoevalcap"))
dog, men = "a dog runs on the grass", "two men sit at a table"
found = {}
for name, texts in {"one": [dog], "two": [dog, men], "two alike": [dog, dog]}.items():
    references = {number: [text] for number, text in enumerate(texts)}
    found[name] = [float(score) for score in Cider().compute_score(references, references)[1]]
print(found)
assert found == {"one": [0.0], "two": [10.0, 10.0], "two alike": [0.0, 0.0]}
PYTHON

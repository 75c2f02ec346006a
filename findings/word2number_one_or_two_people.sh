#!/usr/bin/env bash
# Expected: "The number in a caption is one of the numbers that stand in it, or the caption is refused."
# Seen on 2026-12-01: all number words are added up, whatever stands between them: "one or two people" is 3, "two dogs
# and three cats" is 5, and "room nineteen eighty four" is 1524. There is no message.
# Hurts: who counts objects of captions by their number words, as tests of counting do.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  word2number==1.1
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from word2number.w2n import word_to_num

print("word2number", version("word2number"))
captions = {
    "two dogs on a beach": 2,
    "one hundred and five balloons": 105,
    "one or two people": 3,
    "two dogs and three cats": 5,
    "room nineteen eighty four": 1524,
}
seen = {caption: word_to_num(caption) for caption in captions}
for caption, number in seen.items():
    print(f"{caption}: {number}")
assert seen == captions
PYTHON

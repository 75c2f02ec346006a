#!/usr/bin/env bash
# inflect says of singular_noun: "Returns False when a singular noun is passed." Guess, written before the run: False
# for bus, grass and dress.
# Seen on 2026-11-29: dress and grass give False, bus gives bu, gas ga, lens len, tennis tenni, christmas christma.
# Hurts: who makes concepts of captions by it: 'bus' and 'tennis' are among MS-COCO's and Flickr8k's most frequent
# nouns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  inflect==7.6.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import inflect

print("inflect", version("inflect"))
words = "dress grass dogs bus gas lens tennis christmas".split()
found = {word: inflect.engine().singular_noun(word) for word in words}
print(found)
assert found == {
    "dress": False, "grass": False, "dogs": "dog", "bus": "bu", "gas": "ga", "lens": "len", "tennis": "tenni",
    "christmas": "christma",
}
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "pandas.read_json of captions with Flickr's ids as keys has the ids in its index, as
# numbers or as words."
# Seen on 2026-11-30: if all ids are above 31,536,000 they are seconds since 1970: 1000092795 is 2001-09-10 03:33:15.
# With one smaller id among them they are numbers. With `convert_axes=False` they are words.
# Hurts: who keeps captions or scores by image: the index of one part of the images is of dates and that of another
# part of numbers, and no id is found in the first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 pandas==3.1.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import io
import json

import pandas as pd

print("pandas", pd.__version__)
two = {"1000092795": "two young men", "2930000000": "a dog"}
three = two | {"10002456": "men on a machine"}


def index(captions, **settings):
    return pd.read_json(io.StringIO(json.dumps({"caption": captions})), **settings).index


found = {"two": index(two), "three": index(three), "two, as they are": index(two, convert_axes=False)}
for name, ids in found.items():
    print(name, ids.dtype, ids[0])
assert str(found["two"][0]) == "2001-09-10 03:33:15"
assert 1000092795 in found["three"] and 1000092795 not in found["two"]
assert list(found["two, as they are"]) == list(two)
PYTHON

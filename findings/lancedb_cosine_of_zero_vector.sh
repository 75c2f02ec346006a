#!/usr/bin/env bash
# Expected: "A search for the ten nearest of four vectors gives all four, in some order."
# Seen on 2026-12-01: by cosine, a zero vector is in no answer, however long, and a query of zeros has no answer at all.
# There is no message. By l2, the default, all four vectors are found both times.
# Hurts: who searches embeddings of which some are zero, such as sentences without a known word: recall and ranks are
# those of fewer candidates and fewer queries.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  lancedb==0.40.0 pyarrow==25.0.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import lancedb
import numpy as np

print("lancedb", version("lancedb"))
vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [3, 4, 0]], np.float32)
rows = [{"image": number, "vector": vector} for number, vector in enumerate(vectors)]
table = lancedb.connect("images").create_table("images", rows)
seen = {}
for distance in ("cosine", "l2"):
    for query in ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]):
        found = table.search(query).distance_type(distance).limit(10).to_list()
        seen[distance, sum(query)] = sorted(row["image"] for row in found)
        print(distance, query, seen[distance, sum(query)])
assert seen == {("cosine", 1): [0, 1, 3], ("cosine", 0): [], ("l2", 1): [0, 1, 2, 3], ("l2", 0): [0, 1, 2, 3]}
PYTHON

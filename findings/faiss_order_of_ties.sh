#!/usr/bin/env bash
# Guess, written before the run: "The first hit is the same one whatever the number k of hits that is asked for, and
# equal vectors come in their order."
# Seen on 2026-11-30: of 300 equal vectors IndexFlatIP gives number 0 first if k is 1, number 4 if k is 5, and number
# 99 if k is 100: it keeps the first k and gives the last of them first. IndexFlatL2 gives number 0 first each time.
# Hurts: who measures recall@1 from the hits of a larger k: repeated images and captions rank otherwise than with k=1,
# and the same vectors have another recall by inner product than by distance.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  faiss-cpu==1.15.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import faiss
import numpy as np

print("faiss", faiss.__version__)
equal = np.full((300, 4), 0.5, np.float32)
first = {}
for kind in (faiss.IndexFlatIP, faiss.IndexFlatL2):
    index = kind(4)
    index.add(equal)
    first[kind.__name__] = {k: int(index.search(equal[:1], k)[1][0, 0]) for k in (1, 5, 10, 100)}
print("number of the first hit for each k:", first)
assert first["IndexFlatIP"] == {1: 0, 5: 4, 10: 9, 100: 99}
assert set(first["IndexFlatL2"].values()) == {0}
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "A model that gives all documents one score has the recall of chance, or the worst
# one."
# Seen on 2026-11-30: equal scores are ranked in the order in which the run's dict names them: with the right document
# first, recall@1 and MRR are 1, and with it last they are 0 and 1/3.
# Hurts: who writes candidates with the right one first, as data sets of choices do: a model that has learnt nothing
# is perfect.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  ranx==0.3.21
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from ranx import Qrels, Run, evaluate

print("ranx", version("ranx"))
judged = Qrels({"query": {"right": 1}})
found = []
for names in (["right", "wrong", "other"], ["other", "wrong", "right"]):
    run = Run({"query": {name: 1.0 for name in names}})
    found.append([round(float(value), 3) for value in evaluate(judged, run, ["recall@1", "mrr"]).values()])
print("right first:", found[0], "right last:", found[1])
assert found == [[1.0, 1.0], [0.0, 0.333]]
PYTHON

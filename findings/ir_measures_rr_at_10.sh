#!/usr/bin/env bash
# Guess, written before the run: "RR@10 is never more than RR, and is the same where there are at most 10 documents."
# Seen on 2026-11-30: of four documents with one score, of which the right one is a, RR is .25 and RR@10 is 1; if it
# is d, RR is 1 and RR@10 is .25. The two come from other programs, which break ties by the names of documents in
# opposite orders.
# Hurts: who reports two measures of one call side by side: scores that are rounded or equal favour other documents in
# each.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  ir-measures==0.4.3
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import ir_measures
from ir_measures import RR

print("ir-measures", version("ir-measures"), "pytrec_eval-terrier", version("pytrec_eval-terrier"))
run = [ir_measures.ScoredDoc("query", name, 1.0) for name in "abcd"]
found = {}
for right in "ad":
    values = ir_measures.calc_aggregate([RR, RR @ 10], [ir_measures.Qrel("query", right, 1)], run)
    found[right] = [values[RR], values[RR @ 10]]
print("RR and RR@10, by the right document:", found)
assert found == {"a": [0.25, 1.0], "d": [1.0, 0.25]}
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "Scores are doubles, so the larger one ranks first; ties keep the order of the run."
# Seen on 2026-11-29: trec_eval compares scores in single precision, and breaks ties by the greater document name. A
# right answer with the score 1.0000000001 is behind a wrong one with 1.0, which has a later name; named earlier, the
# wrong one loses.
# Hurts: who measures recall or MRR of cosine similarities by trec_eval: ranks of near ties depend on the names of
# images.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pytrec_eval-terrier==0.5.11
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import pytrec_eval

print("pytrec_eval-terrier", version("pytrec_eval-terrier"))
found = {}
for wrong in ("a", "c"):
    run = {"q": {"b": 1.0000000001, wrong: 1.0}}
    found[wrong] = pytrec_eval.RelevanceEvaluator({"q": {"b": 1}}, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    print(run, "reciprocal rank of b:", found[wrong])
assert found == {"a": 1.0, "c": 0.5}
PYTHON

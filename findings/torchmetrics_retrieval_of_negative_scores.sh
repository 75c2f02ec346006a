#!/usr/bin/env bash
# Guess, written before the run: "Retrieval metrics depend on the order of the scores alone: cosines have the recall
# of the same cosines plus 1."
# Seen on 2026-11-30: a right document whose score is not above 0 counts as a wrong one in RetrievalMRR, RetrievalMAP,
# RetrievalRecall and RetrievalPrecision: with scores of -.9, -.5 and -.1, of which the right one is the last, each is
# 0 at k = 1, and with the scores plus 1 each is 1. RetrievalNormalizedDCG, RetrievalHitRate and RetrievalRPrecision
# are 1 in both cases.
# Hurts: who gives it log probabilities, negative distances, or cosines below 0: the recall is 0 or too low, without a
# message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  torch==2.15.0 torchmetrics==1.9.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import torch
from torchmetrics import retrieval

print("torchmetrics", version("torchmetrics"))
scores, right, query = torch.tensor([-0.9, -0.5, -0.1]), torch.tensor([0, 0, 1]), torch.zeros(3, dtype=torch.long)
found = {}
for name in ("MRR", "MAP", "Recall", "Precision", "NormalizedDCG", "HitRate", "RPrecision"):
    metric = getattr(retrieval, f"Retrieval{name}")(**{} if name == "RPrecision" else {"top_k": 1})
    found[name] = [float(metric(values, right, query)) for values in (scores, scores + 1)]
print("of the scores, and of the scores plus 1:", found)
assert all(found[name] == [0, 1] for name in ("MRR", "MAP", "Recall", "Precision"))
assert all(found[name] == [1, 1] for name in ("NormalizedDCG", "HitRate", "RPrecision"))
PYTHON

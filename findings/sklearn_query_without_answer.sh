#!/usr/bin/env bash
# Guess, written before the run: "A query that has no right document counts 0, or is left out, in each of the ranking
# metrics."
# Seen on 2026-11-30: label_ranking_average_precision_score counts it as perfect, 1, and ndcg_score as 0. With one
# query that is answered at rank 4 and one without an answer, the first is .62 and the second .22; without that query
# they are .25 and .43.
# Hurts: who filters documents and keeps the queries, such as captions whose image is not in the split: the fewer
# answers are left, the higher is one mean and the lower the other.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 scikit-learn==1.9.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import sklearn
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

print("scikit-learn", sklearn.__version__)
scores = [[0.9, 0.8, 0.7, 0.6]] * 2
right = [[0, 0, 0, 1], [0, 0, 0, 0]]
found = {
    metric.__name__: [round(float(metric(right[:count], scores[:count])), 2) for count in (1, 2)]
    for metric in (label_ranking_average_precision_score, ndcg_score)
}
print("without and with the query that has no answer:", found)
assert found == {"label_ranking_average_precision_score": [0.25, 0.62], "ndcg_score": [0.43, 0.22]}
PYTHON

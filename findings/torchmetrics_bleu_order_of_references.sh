#!/usr/bin/env bash
# Guess, written before the run: "BLEU does not depend on the order in which the references of an image are listed."
# Seen on 2026-11-30: with references of 4 and 6 words, a caption of 5 words has .82 or 1: of references that are
# equally close in length, torchmetrics takes the first one for the brevity penalty, also in its SacreBLEUScore.
# sacrebleu takes the shorter one.
# Hurts: who has five captions for each image, where such ties are frequent: sorting or shuffling them changes BLEU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  sacrebleu==2.6.0 torch==2.15.0 torchmetrics==1.9.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import sacrebleu
from torchmetrics.text import BLEUScore, SacreBLEUScore

print("torchmetrics", version("torchmetrics"), "sacrebleu", sacrebleu.__version__)
caption, shorter, longer = "a dog runs on grass", "a dog runs on", "a dog runs on grass now"
found = {}
for name, references in {"shorter first": [shorter, longer], "longer first": [longer, shorter]}.items():
    found[name] = [round(float(kind(n_gram=1)([caption], [references])), 2) for kind in (BLEUScore, SacreBLEUScore)]
    found[name].append(sacrebleu.corpus_bleu([caption], [[text] for text in references]).bp)
print(found)
assert found == {"shorter first": [1.0, 1.0, 1.0], "longer first": [0.82, 0.82, 1.0]}
PYTHON

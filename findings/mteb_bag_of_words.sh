#!/usr/bin/env bash
# mteb says of SugarCrepe: "A model whose text representation is order-insensitive scores chance on those pairs by
# construction, capping its text_acc at 0.962."
# Seen on 2026-11-30: the first of equal scores is the choice, and the right sentence stands first. A bag of words has a
# text_acc of 1.
# Hurts: who compares models of word order: one that ignores it is perfect, or decided by the last bits of its sums.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  mteb==2.26.24
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import torch
from mteb.abstasks.image.image_text_pair_classification import AbsTaskImageTextPairClassification

print("mteb", version("mteb"))
words = {word: torch.eye(5)[place] for place, word in enumerate("a dog chases cat the".split())}
image = torch.tensor([0.5, 2.0, 1.0, 1.0, 0.5])


def bag_of_words(sentence):
    return sum(words[word] for word in sentence.split())


pairs = [("a dog chases the cat", "a cat chases the dog"), ("the dog chases a cat", "the cat chases a dog")]
scores = [torch.stack([image @ bag_of_words(text) for text in pair])[None] for pair in pairs]
assert all(score[0, 0] == score[0, 1] for score in scores)
found = AbsTaskImageTextPairClassification._compute_metrics(None, scores, 1, 2)
print("equal scores, the right sentence first:", found)
assert found["text_acc"] == 1
assert all(int(score.argmax(dim=1)) == 0 for score in scores)
PYTHON

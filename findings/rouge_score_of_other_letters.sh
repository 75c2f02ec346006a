#!/usr/bin/env bash
# Guess, written before the run: "A caption in German or Russian that equals its reference has ROUGE-1 of 1, and one
# with another word has less."
# Seen on 2026-11-30: letters other than a to z are spaces. A Russian, Greek or Chinese caption that equals its
# reference has 0, and so the word Bär is the words b and r, and ein Bör equals ein Bär.
# Hurts: who scores captions in another language than English, such as Multi30k's: the mean is wrong on both sides.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  rouge-score==0.1.2
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from rouge_score.rouge_scorer import RougeScorer

print("rouge-score", version("rouge-score"))
pairs = {
    "English": ("a dog runs", "a dog runs"),
    "Russian": ("собака бежит", "собака бежит"),
    "Greek": ("ένας σκύλος τρέχει", "ένας σκύλος τρέχει"),
    "Chinese": ("一只狗在草地上", "一只狗在草地上"),
    "German, another word": ("ein Bär", "ein Bör"),
}
found = {name: RougeScorer(["rouge1"]).score(*texts)["rouge1"].fmeasure for name, texts in pairs.items()}
print(found)
assert found == {"English": 1, "Russian": 0, "Greek": 0, "Chinese": 0, "German, another word": 1}
PYTHON

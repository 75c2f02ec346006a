#!/usr/bin/env bash
# NLTK says of align_words: "In case there are multiple matches the match which has the least number of crossing is
# chosen."
# Seen on 2026-11-30: a word is matched with its last place in the reference: of "a dog", with the reference "a dog and
# a cat", the "a" is that of the cat, which crosses. METEOR is .21, and .40 with the reference "a dog and the cat".
# Hurts: who scores captions by NLTK's METEOR: one whose reference says "a" more often than it does has too low a score.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  nltk==3.10.4
cd "$folder"
venv/bin/python - <<'PYTHON'
import nltk
from nltk.translate.meteor_score import align_words, single_meteor_score


class NoSynonyms:
    def synsets(self, word):
        return []


print("nltk", nltk.__version__)
caption, words = "a dog".split(), NoSynonyms()
found = {}
for reference in ("a dog and a cat", "a dog and the cat"):
    pairs = align_words(caption, reference.split(), wordnet=words)[0]
    found[reference] = (pairs, round(single_meteor_score(reference.split(), caption, wordnet=words), 2))
print(found)
assert found["a dog and a cat"] == ([(0, 3), (1, 1)], 0.21)
assert found["a dog and the cat"] == ([(0, 0), (1, 1)], 0.4)
PYTHON

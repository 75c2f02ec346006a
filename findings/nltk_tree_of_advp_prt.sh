#!/usr/bin/env bash
# Guess, written before the run: "A parse tree that is made binary, and then not binary again, is the tree it was."
# Seen on 2026-11-30: the phrase ADVP|PRT, a label that the Penn Treebank has, is gone: its two words are children of
# the verb phrase. NLTK takes a | in a label for the mark of a node that it added itself. A label of two with a + is
# made two phrases.
# Hurts: who measures phrases or trees against NLTK's: a phrase of the truth is missing, and the words are all there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  nltk==3.10.4
cd "$folder"
venv/bin/python - <<'PYTHON'
import nltk
from nltk import Tree

print("nltk", nltk.__version__)


def there_and_back(text):
    tree = Tree.fromstring(text)
    tree.chomsky_normal_form()
    tree.un_chomsky_normal_form()
    return tree.pformat(margin=200)


plain = "(VP (VB go) (ADVP (RB up) (RP on)) (NP (NN hill)))"
found = {label: there_and_back(plain.replace("ADVP", label)) for label in ("ADVP", "ADVP|PRT", "ADVP+PRT")}
for label, tree in found.items():
    print(label, tree)
assert found["ADVP"] == plain
assert found["ADVP|PRT"] == "(VP (VB go) (RB up) (RP on) (NP (NN hill)))"
assert found["ADVP+PRT"] == "(VP (VB go) (ADVP (PRT (RB up) (RP on))) (NP (NN hill)))"
PYTHON

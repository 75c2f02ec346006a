#!/usr/bin/env bash
# Guess, written before the run: "With several references ROUGE-L is the greatest of the values with each one."
# Seen on 2026-11-30: it is made of the greatest precision and the greatest recall, which may be those of two
# references: a caption that equals neither has 1, though it has .63 and .62 with each one alone.
# Hurts: who compares ROUGE-L of pycocoevalcap with another tool's, or with other numbers of references: a long and a
# short reference make a caption perfect.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 pycocoevalcap==1.2
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from pycocoevalcap.rouge.rouge import Rouge

print("pycocoevalcap", version("pycocoevalcap"))
caption, long, short = "a dog runs on grass", "a brown dog runs on grass after a red ball", "dog runs"
found = [round(float(Rouge().calc_score([caption], texts)), 2) for texts in ([long], [short], [long, short])]
print("with the long, the short, and both references:", found)
assert found == [0.63, 0.62, 1.0]
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "The tokenizer replaces line ends in captions, so none shifts another caption."
# Seen on 2026-11-29: it replaces \n alone, and Java takes \r, vertical tab, form feed and U+2028 for line ends too.
# The second half of such a caption becomes the next image's caption, and so on: all later images are scored with the
# sentence before theirs, without a message. The last sentence is lost.
# Hurts: who scores captions that were copied from web pages or written by a model. Needs Java.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pycocoevalcap==1.2 pycocotools==2.0.11 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

print("pycocoevalcap", version("pycocoevalcap"))
for mark in ("\n", "\r", "\x0b", "\x0c", "\u2028"):
    captions = [f"a dog{mark}runs", "a red ball", "two men"]
    found = PTBTokenizer().tokenize({number: [{"caption": text}] for number, text in enumerate(captions)})
    words = [found[number][0] for number in range(3)]
    print(repr(mark), words)
    assert words == (["a dog runs", "a red ball", "two men"] if mark == "\n" else ["a dog", "runs", "a red ball"])
PYTHON

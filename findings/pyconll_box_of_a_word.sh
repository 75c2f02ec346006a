#!/usr/bin/env bash
# Expected: "A file of CoNLL-U that is read and written again says the same in its last column, MISC, which is free."
# Seen on 2026-11-30: pyconll takes a comma in MISC for a list without order, and writes it sorted as texts, each value
# once: Box=120,40,300,200 is Box=120,200,300,40, and Box=10,10,20,20 is Box=10,20. Gloss=red,big is Gloss=big,red. No
# message. conllu keeps all three. 3.3.1 is the last version for Python before 3.14; version 4 was not tried.
# Hurts: who keeps boxes of words or phrases in MISC, and adds something with pyconll: the corners are others, and the
# box of a square has two numbers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pyconll==3.3.1 conllu==6.0.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import conllu
import pyconll

print("pyconll", version("pyconll"), "conllu", version("conllu"))
values = ["Box=120,40,300,200", "Box=10,10,20,20", "Gloss=red,big"]
text = f"""# sent_id = 1
# text = men watch dogs
1\tmen\tman\tNOUN\t_\t_\t2\tnsubj\t_\t{values[0]}
2\twatch\twatch\tVERB\t_\t_\t0\troot\t_\t{values[1]}
3\tdogs\tdog\tNOUN\t_\t_\t2\tobj\t_\t{values[2]}

"""
found = {}
for name, again in (("pyconll", pyconll.load_from_string(text).conll()), ("conllu", conllu.parse(text)[0].serialize())):
    found[name] = [line.split("\t")[9] for line in again.split("\n") if "\t" in line]
    print(name, found[name])
assert found["pyconll"] == ["Box=120,200,300,40", "Box=10,20", "Gloss=big,red"]
assert found["conllu"] == values
PYTHON

#!/usr/bin/env bash
# Expected: "Names of images such as MS-COCO's 12 digits that PyYAML writes as texts are texts in each YAML reader, and
# unquoted they are all texts or all numbers."
# Seen on 2026-11-30: PyYAML quotes 000000123456 and does not quote 000000391895: with an 8 or 9 it is no octal number
# of YAML 1.1, so it needs no quotes there. ruamel.yaml reads YAML 1.2, where it is the number 391895: of one list some
# names are texts and others numbers. Of an unquoted list PyYAML makes 000000123456 the number 42798, in octal, and
# 000000391895 a text.
# Hurts: who keeps a split or a list of left-out images as YAML: some images are not found, or the number is that of
# another image, without a message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pyyaml==6.0.4 ruamel.yaml==0.19.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import ruamel.yaml
import yaml

print("PyYAML", yaml.__version__, "ruamel.yaml", ruamel.yaml.__version__)
names = ["000000391895", "000000123456", "000000522418", "000000017714"]
written = yaml.safe_dump(names)
unquoted = "".join(f"- {name}\n" for name in names)
found = {}
for what, text in (("written by PyYAML", written), ("unquoted", unquoted)):
    found[what] = yaml.safe_load(text), ruamel.yaml.YAML(typ="safe", pure=True).load(text)
    print(f"{what}: {' '.join(text.split())}")
    print("  PyYAML:", found[what][0])
    print("  ruamel.yaml:", found[what][1])
assert written.split("\n")[:2] == ["- 000000391895", "- '000000123456'"]
assert found["written by PyYAML"] == (names, [391895, "000000123456", 522418, "000000017714"])
assert found["unquoted"] == (["000000391895", 42798, "000000522418", 8140], [391895, 123456, 522418, 17714])
PYTHON

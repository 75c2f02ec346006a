#!/usr/bin/env bash
# Guess, written before the run: "Equal tensors with equal metadata are equal bytes."
# Seen on 2026-11-29: the keys of the metadata are written in an order of chance, so 20 saves of one thing in one
# process are several files. Tensors keep their order.
# Hurts: who compares or caches weights by their checksum, or commits them: give one key (a JSON text), or sort the
# header oneself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  safetensors==0.8.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from safetensors.numpy import save

print("safetensors", version("safetensors"))
tensors, metadata = {"a": np.ones(3), "b": np.zeros(2)}, {name: "1" for name in "vwxyz"}
several = {save(tensors, metadata) for _ in range(20)}
one = {save(tensors, {"x": "1"}) for _ in range(20)}
print("different files of 20 saves, with five keys:", len(several) > 1, "with one key:", len(one) > 1)
assert len(several) > 1 and len(one) == 1
PYTHON

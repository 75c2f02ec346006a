#!/usr/bin/env bash
# Guess, written before the run: "Two other pictures of 16 bits have other hashes, and the hashes of the same pictures
# of 8 bits."
# Seen on 2026-11-30: a picture of 16 bits is white for Pillow wherever it is above 255, so that two pictures of noise
# have one phash, 8000000000000000, and their hashes of 8 bits differ. average_hash and dhash are all 0.
# Hurts: who removes repeated images, such as depth maps or scans of 16 bits: all of them are copies of the first one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  imagehash==4.3.2 numpy==2.4.6 pillow==13.0.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import imagehash
import numpy as np
from PIL import Image

print("imagehash", version("imagehash"), "pillow", version("pillow"))
found = {8: [], 16: []}
for seed in (0, 1):
    values = np.random.default_rng(seed).integers(1, 256, (64, 64))
    Image.fromarray((values * 256).astype(np.uint16)).save("deep.png")
    pictures = {8: Image.fromarray(values.astype(np.uint8)), 16: Image.open("deep.png")}
    for bits, picture in pictures.items():
        kinds = (imagehash.phash, imagehash.average_hash, imagehash.dhash)
        found[bits].append([str(kind(picture)) for kind in kinds])
print(found)
assert found[16] == [["8" + "0" * 15, "0" * 16, "0" * 16]] * 2
assert all(one != two for one, two in zip(*found[8], strict=True))
PYTHON

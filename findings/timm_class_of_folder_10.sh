#!/usr/bin/env bash
# Guess, written before the run: "A folder of images in a folder for each class has the same numbers of classes in
# timm and in torchvision."
# Seen on 2026-11-30: of the folders 1, 2 and 10, class 1 is folder 10 in torchvision's ImageFolder, which sorts
# texts, and folder 2 in timm, which sorts the numbers in them. So do class2 and class10.
# Hurts: who trains with one and measures with the other: the names of most classes are those of others, without a
# message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pillow==13.0.0 timm==1.0.31 torch==2.15.0 torchvision==0.29.2
cd "$folder"
venv/bin/python - <<'PYTHON'
from pathlib import Path

import timm
import torchvision
from PIL import Image
from timm.data import create_dataset

print("timm", timm.__version__, "torchvision", torchvision.__version__)
found = {}
for root, folders in {"numbers": ("1", "2", "10"), "words": ("class1", "class2", "class10")}.items():
    for folder in folders:
        Path(root, folder).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(Path(root, folder, "image.png"))
    both = create_dataset("", root).reader, torchvision.datasets.ImageFolder(root)
    found[root] = [[kind.class_to_idx[folder] for folder in folders] for kind in both]
    print(folders, "timm:", found[root][0], "torchvision:", found[root][1])
assert found == {"numbers": [[0, 1, 2], [0, 2, 1]], "words": [[0, 1, 2], [0, 2, 1]]}
PYTHON

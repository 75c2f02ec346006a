#!/usr/bin/env bash
# OpenCV's page says of imread's flag: "If set, do not rotate the image according to EXIF's orientation flag". Guess,
# written before the run: without the flag, JPEG, PNG, WebP, AVIF and TIFF are all upright.
# Seen on 2026-11-29: JPEG, PNG and WebP are upright. AVIF stays on its side, although Pillow turns the same file.
# TIFF is not read at all: None, and a line in the log; a square one is read.
# Hurts: who reads scans or AVIF photographs of a phone, and boxes that were drawn on upright pictures.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  opencv-python-headless==5.0.0.93 pillow==13.0.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import cv2
import PIL
from PIL import Image, ImageOps

print("OpenCV", cv2.__version__, "Pillow", PIL.__version__)
found = {}
for kind in ("jpg", "png", "webp", "avif", "tiff"):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (100, 60)).save(f"photo.{kind}", exif=exif)
    assert ImageOps.exif_transpose(Image.open(f"photo.{kind}")).size == (60, 100)
    read = cv2.imread(f"photo.{kind}")
    found[kind] = None if read is None else read.shape[1::-1]
print("stored 100 x 60, upright 60 x 100:", found)
upright = (60, 100)
assert found == {"jpg": upright, "png": upright, "webp": upright, "avif": (100, 60), "tiff": None}
PYTHON

#!/usr/bin/env bash
# Guess, written before the run: "An Exif object that is passed to save is as before afterwards, whatever the format."
# Seen on 2026-11-29: saving as AVIF removes the orientation from the caller's object. The JPEG that is saved with it
# afterwards has none, and lies on its side; saved first, it is upright.
# Hurts: who writes a photograph in several formats in a loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  pillow==13.0.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import PIL
from PIL import Image

ORIENTATION = 0x0112
picture = Image.new("RGB", (100, 60))
print("Pillow", PIL.__version__)
left = {}
for formats in (("jpg", "webp", "png"), ("avif", "jpg")):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    for kind in formats:
        picture.save(f"photo.{kind}", exif=exif)
    left[formats[0]] = exif.get(ORIENTATION), Image.open("photo.jpg").getexif().get(ORIENTATION)
    print(formats, "the caller's orientation, and that of the JPEG:", left[formats[0]])
assert left == {"jpg": (6, 6), "avif": (None, None)}
PYTHON

#!/usr/bin/env bash
# Expected: "A file of n grey pages, or an array of n masks that was saved, is read as n pages."
# Seen on 2026-11-30: 2 and 5 pages are, and of 3 or 4 pages skimage.io.imread makes one coloured picture: (3, 6, 7)
# is (6, 7, 3). tifffile and imageio give (3, 6, 7) for the same file. A PNG of grey and alpha that is 3 or 4 pixels
# high is (7, 2, 3) for (3, 7, 2). See issue 196 of cgohlke/tifffile.
# Hurts: who stores the masks of the regions of an image as pages: for most images the first mask is stored[0], and
# for those with three or four regions that is a row of pixels.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  imageio==2.38.1 numpy==2.4.6 pillow==13.0.0 scikit-image==0.26.0 tifffile==2026.3.3
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

import imageio.v3
import numpy as np
import skimage.io
import tifffile
from PIL import Image

for name in ("scikit-image", "tifffile", "imageio"):
    print(name, version(name))
found = {}
for pages in (2, 3, 4, 5):
    masks = np.arange(pages * 42, dtype=np.uint8).reshape(pages, 6, 7)
    skimage.io.imsave("saved.tif", masks, check_contrast=False)
    first, *others = map(Image.fromarray, masks)
    first.save("pages.tif", save_all=True, append_images=others)
    shapes = [skimage.io.imread(file).shape for file in ("saved.tif", "pages.tif")]
    others = [reader("pages.tif") for reader in (tifffile.imread, imageio.v3.imread)]
    assert all((other == masks).all() for other in others)
    found[pages] = shapes
    print(pages, "pages:", *shapes)
assert found == {2: [(2, 6, 7)] * 2, 3: [(6, 7, 3)] * 2, 4: [(6, 7, 4)] * 2, 5: [(5, 6, 7)] * 2}
Image.fromarray(np.zeros((3, 7, 2), np.uint8), "LA").save("low.png")
low = skimage.io.imread("low.png").shape
print("grey and alpha, 3 pixels high:", low)
assert low == (7, 2, 3)
PYTHON

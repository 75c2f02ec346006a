"""What of an image a network looks at: whole, ten crops, or a grid of cells.

`whole` and `grid` look at the centre: the shorter side is resized to `resize`, then the central square of side `size`
is taken (Kiros 2014 and sm-LSTM do not say; VSE++ does so). `ten_crop` takes the centre and the corners of the resized
image and their mirror images; their mean is the feature (SCO, section 3.2). With resize = size nothing of a square
image is cut off.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.settings.networks import View

Pixels = NDArray[np.uint8]

CROPS: dict[View, int] = {"whole": 1, "grid": 1, "ten_crop": 10}
"""View -> crops an image."""

LONGEST = 8
"""The longer side is at most so many times the shorter one; an image longer than that is squeezed."""


def crops(pixels: Pixels, view: View, resize: int, size: int) -> Pixels:
    """The crops of an image (height, width, 3) that a view looks at: (crops, size, size, 3)."""
    resized = resize_shorter_side(pixels, resize)
    if view != "ten_crop":
        return centre_crop(resized, size)[None]
    right, bottom = resized.shape[1] - size, resized.shape[0] - size
    corners = [resized[y : y + size, x : x + size] for y in (0, bottom) for x in (0, right)]
    five = np.stack([*corners, centre_crop(resized, size)])
    return np.concatenate([five, five[:, :, ::-1]])


def resize_shorter_side(pixels: Pixels, side: int) -> Pixels:
    """Resize an image so that its shorter side has `side` pixels: by area when it shrinks, else bilinearly."""
    shorter = min(pixels.shape[:2])
    height, width = (min(round(length * side / shorter), LONGEST * side) for length in pixels.shape[:2])
    if (height, width) == pixels.shape[:2]:
        return pixels
    how = cv2.INTER_AREA if shorter > side else cv2.INTER_LINEAR
    return cv2.resize(pixels, (width, height), interpolation=how).astype(np.uint8, copy=False)


def centre_crop(pixels: Pixels, size: int) -> Pixels:
    """The central square of side `size`."""
    top, left = (pixels.shape[0] - size) // 2, (pixels.shape[1] - size) // 2
    return pixels[top : top + size, left : left + size]

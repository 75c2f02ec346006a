"""What of an image a network looks at: the whole of it, its centre, ten crops, or a grid of cells.

`whole` and `grid` squeeze the whole image into the network's square, as R-CNN does with a region (HM-LSTM's root is
such a whole image), so that methods which read different views are given the same pixels. `centre` resizes the shorter
side to `resize` and takes the central square of side `size`, as VSE++ does; of a square image that cuts off a quarter.
`ten_crop` takes that square, the corners of the resized image, and the mirror images of these five; their mean is the
feature (SCO, section 4.2). Kiros 2014 and sm-LSTM do not say what they take.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.config.networks import View

Pixels = NDArray[np.uint8]

CROPS: dict[View, int] = {"whole": 1, "centre": 1, "grid": 1, "ten_crop": 10}
"""View -> number of crops of an image."""

LONGEST = 8
"""The longer side is at most so many times the shorter one; an image longer than that is squeezed."""


def crops(pixels: Pixels, view: View, resize: int, size: int) -> Pixels:
    """The crops of an image (height, width, 3) that a view looks at: (crops, size, size, 3)."""
    if view in ("whole", "grid"):
        return squeezed(pixels, size)[None]
    resized = resize_shorter_side(pixels, resize)
    if view == "centre":
        return centre_crop(resized, size)[None]
    right, bottom = resized.shape[1] - size, resized.shape[0] - size
    corners = [resized[y : y + size, x : x + size] for y in (0, bottom) for x in (0, right)]
    five = np.stack([*corners, centre_crop(resized, size)])
    return np.concatenate([five, five[:, :, ::-1]])


def resize_shorter_side(pixels: Pixels, side: int) -> Pixels:
    """Resize an image so that its shorter side has `side` pixels: by area when it shrinks, else bilinearly."""
    shorter = min(pixels.shape[:2])
    height, width = (min(round(length * side / shorter), LONGEST * side) for length in pixels.shape[:2])
    return _resized(pixels, height, width)


def squeezed(pixels: Pixels, side: int) -> Pixels:
    """Resize an image to a square, whatever its shape."""
    return _resized(pixels, side, side)


def centre_crop(pixels: Pixels, size: int) -> Pixels:
    """The central square of side `size`."""
    top, left = (pixels.shape[0] - size) // 2, (pixels.shape[1] - size) // 2
    return pixels[top : top + size, left : left + size]


def _resized(pixels: Pixels, height: int, width: int) -> Pixels:
    if (height, width) == pixels.shape[:2]:
        return pixels
    how = cv2.INTER_AREA if min(pixels.shape[:2]) > min(height, width) else cv2.INTER_LINEAR
    return cv2.resize(pixels, (width, height), interpolation=how).astype(np.uint8, copy=False)

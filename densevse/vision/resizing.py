"""Images as squares of pixels for a network: resized, cut or squeezed."""

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

_LONGEST = 8
"""The largest ratio of the longer to the shorter side; a longer image is squeezed."""


def resize_shorter_side(pixels: Pixels, side: int) -> Pixels:
    """Resizes an image so that its shorter side has `side` pixels: by area if it shrinks, else bilinearly."""
    shorter = min(pixels.shape[:2])
    height, width = (min(round(length * side / shorter), _LONGEST * side) for length in pixels.shape[:2])
    return _resized(pixels, height, width)


def squeezed(pixels: Pixels, side: int) -> Pixels:
    """Resizes an image to a square, regardless of its shape."""
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

"""Crops of regions as R-CNN makes them: boxes warped to a square, with context around."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes

_SIDE = 227
"""The side of R-CNN's crops; `context` is in pixels of such a crop."""


def mean_colour(mean: Sequence[float]) -> tuple[int, int, int]:
    """The grey levels nearest to a network's channel means (values up to 1), which fill crops beyond the image."""
    red, green, blue = (round(255 * channel) for channel in mean)
    return red, green, blue


def crop_of_region(
    image: NDArray[np.uint8], rank: int, box: Boxes, size: int, context: float, fill: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """The crop (size, size, 3) of an image's region with a given rank; rank 0 is the whole image.

    The whole image is squeezed as in the view `whole`, so that both have the same vector; see `warp` for other regions.
    """
    return squeeze_image(image, size) if rank == 0 else warp(image, box, size, context, fill)


def warp(
    image: NDArray[np.uint8], box: Boxes, size: int, context: float, fill: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """Warps a box (4,) of an RGB image (H, W, 3) to (size, size, 3), as R-CNN and Caffe's window layer do.

    The box is widened by the context that fills `context` pixels on each side of a 227 x 227 crop (R-CNN, appendix A:
    16). Pixels beyond the image are `fill`, the network's mean colour rounded to the nearest grey level.
    """
    begin, last = _widen_box(box, context)
    extent = last - begin + 1
    outside = np.maximum(0, -begin)
    begin, last = begin + outside, np.minimum(last, [image.shape[1] - 1, image.shape[0] - 1])
    scale = size / extent
    offset = _round(outside * scale)
    width, height = np.clip(_round((last - begin + 1) * scale), 1, size - np.minimum(offset, size - 1))
    inside = image[begin[1] : last[1] + 1, begin[0] : last[0] + 1]
    warped = cv2.resize(inside, (int(width), int(height)), interpolation=cv2.INTER_LINEAR)
    if (height, width) == (size, size):
        return warped  # type: ignore[return-value]
    crop = np.empty((size, size, 3), np.uint8)
    crop[:] = fill
    left, top = np.minimum(offset, size - 1)
    crop[top : top + height, left : left + width] = warped
    return crop


def _widen_box(box: Boxes, context: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last pixel, (x, y) each, of the box widened by its context."""
    begin, size = box[:2].astype(np.float64), box[2:].astype(np.float64)
    if context == 0:
        first = np.floor(begin).astype(np.int64)
        return first, np.maximum(first, np.ceil(begin + size).astype(np.int64) - 1)
    half = size / 2
    center, widening = begin + half, _SIDE / (_SIDE - 2 * context)
    return _round(center - half * widening), _round(center + half * widening)


def _round(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rounds to the nearest integer, halves away from zero as C's `round`; NumPy rounds halves to even numbers."""
    rounded: NDArray[np.int64] = np.trunc(values + np.copysign(0.5, values)).astype(np.int64)
    return rounded


Pixels = NDArray[np.uint8]

_LONGEST = 8
"""The largest ratio of the longer to the shorter side; a longer image is squeezed."""


def resize_shorter_side(pixels: Pixels, side: int) -> Pixels:
    """Resizes an image so that its shorter side has `side` pixels; see `resize`."""
    shorter = min(pixels.shape[:2])
    height, width = (min(round(length * side / shorter), _LONGEST * side) for length in pixels.shape[:2])
    return resize(pixels, height, width)


def squeeze_image(pixels: Pixels, side: int) -> Pixels:
    """Resizes an image to a square, regardless of its shape."""
    return resize(pixels, side, side)


def centre_crop(pixels: Pixels, size: int) -> Pixels:
    """The central square of side `size`."""
    top, left = (pixels.shape[0] - size) // 2, (pixels.shape[1] - size) // 2
    return pixels[top : top + size, left : left + size]


def resize(pixels: Pixels, height: int, width: int) -> Pixels:
    """Resizes pixels (H, W) or (H, W, 3): first the sides that shrink, by averaging, then those that grow, linearly.

    Two steps, as OpenCV's INTER_AREA averages neither side if one of them grows.
    """
    smaller = min(height, pixels.shape[0]), min(width, pixels.shape[1])
    for sides, how in ((smaller, cv2.INTER_AREA), ((height, width), cv2.INTER_LINEAR)):
        if pixels.shape[:2] != sides:
            pixels = cv2.resize(pixels, sides[::-1], interpolation=how).astype(np.uint8, copy=False)
    return pixels

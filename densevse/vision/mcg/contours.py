"""Contour maps: where in an image a contour runs, and how strong it is, looked for at several scales.

A map says for each pixel, from 0 to 255, how strong the contour through it is. HED finds them
(densevse.vision.mcg.hed), on a GPU where there is one; whatever else gives such maps can take its place.
"""

from collections.abc import Sequence

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from densevse.vision.mcg.hed import HED

Pixels = NDArray[np.uint8]

SMALLEST = 16
"""HED halves an image four times: a side is filled up to this many pixels, by the image's own edge."""


class Contours:
    """HED on the best device there is. With `half_precision` its convolutions compute in bf16."""

    def __init__(self, network: HED, half_precision: bool) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if half_precision else torch.float32
        for layer in [*network.stages, *network.sides]:
            layer.to(dtype=dtype, memory_format=torch.channels_last)
        self.network = network.to(self.device)

    def of(self, image: Pixels, scales: Sequence[float], most_pixels: int) -> list[Pixels]:
        """The contour maps (h, w) of an RGB image (H, W, 3), one for each scale, all of one size.

        That size is the image's, or of at most `most_pixels`, which bounds memory and time; the image is resized to it
        and, for each scale, to that many times its sides.
        """
        height, width = working_size(image.shape[0], image.shape[1], most_pixels)
        found = []
        for scale in scales:
            sides = max(1, round(height * scale)), max(1, round(width * scale))
            found.append(resize(self._map(resize(image, *sides)), height, width))
        return found

    def _map(self, image: Pixels) -> Pixels:
        height, width = image.shape[:2]
        missing = ((0, max(0, SMALLEST - height)), (0, max(0, SMALLEST - width)), (0, 0))
        pixels = torch.from_numpy(np.pad(image, missing, mode="edge")).permute(2, 0, 1)[None]
        with torch.inference_mode():
            batch = pixels.to(self.device).float().to(memory_format=torch.channels_last)
            strength = self.network(batch)[0, :height, :width]
            return np.asarray((255 * strength).round().to(torch.uint8).cpu())


def working_size(height: int, width: int, most_pixels: int) -> tuple[int, int]:
    """The size at which an image of `height` x `width` is worked on: the same shape with at most `most_pixels`."""
    shrink = min(1.0, (most_pixels / (height * width)) ** 0.5)
    return max(1, round(height * shrink)), max(1, round(width * shrink))


def resize(pixels: Pixels, height: int, width: int) -> Pixels:
    """Pixels (H, W) or (H, W, 3) in another size: averaged where that is smaller, else interpolated linearly."""
    if pixels.shape[:2] == (height, width):
        return pixels
    smaller = height * width < pixels.shape[0] * pixels.shape[1]
    resized = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return np.asarray(resized, np.uint8)

"""Contour maps: the strength of contours at each pixel of an image, at several scales.

A map gives for each pixel the strength, from 0 to 255, of the contour through it. HED computes it
(densevse.vision.mcg.hed), on a GPU if there is one; or OpenCV's structured edges, with a model file of the user's.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

from densevse.runtime.errors import InputError
from densevse.runtime.numerics import device
from densevse.vision.crops import Pixels
from densevse.vision.mcg.hed import HED, load_hed


class Contours(ABC):
    """A detector of contours in images of at least `smallest` x `smallest` pixels."""

    smallest: int

    def of(self, image: Pixels, scales: Sequence[float], most_pixels: int) -> list[Pixels]:
        """The contour maps (h, w) of an RGB image (H, W, 3), one for each scale, all of one size.

        The size is the image's, reduced to at most `most_pixels`, which bounds memory and time. For each scale the
        image is resized to that many times this size.
        """
        height, width = working_size(image.shape[0], image.shape[1], most_pixels)
        found = []
        for scale in scales:
            sides = max(1, round(height * scale)), max(1, round(width * scale))
            found.append(resize(self._filled_up(resize(image, *sides)), height, width))
        return found

    def _filled_up(self, image: Pixels) -> Pixels:
        """The map of a small image, whose sides are padded with its edge pixels to the smallest size."""
        height, width = image.shape[:2]
        missing = ((0, max(0, self.smallest - height)), (0, max(0, self.smallest - width)), (0, 0))
        return self.map(np.pad(image, missing, mode="edge"))[:height, :width]

    @abstractmethod
    def map(self, image: Pixels) -> Pixels:
        """The contour map (H, W) of an RGB image (H, W, 3)."""


class HEDContours(Contours):
    """HED on the best device. With `half_precision` its convolutions compute in bf16."""

    smallest = 16  # it halves an image four times

    def __init__(self, network: HED, half_precision: bool) -> None:
        self.device = device()
        dtype = torch.bfloat16 if half_precision else torch.float32
        for layer in [*network.stages, *network.sides]:
            layer.to(dtype=dtype, memory_format=torch.channels_last)
        self.network = network.to(self.device)

    def map(self, image: Pixels) -> Pixels:
        """The network's probabilities, from 0 to 255."""
        with torch.inference_mode():
            pixels = torch.from_numpy(image).permute(2, 0, 1)[None]
            batch = pixels.to(self.device).float().to(memory_format=torch.channels_last)
            return np.asarray((255 * self.network(batch)[0]).round().to(torch.uint8).cpu())


class StructuredEdges(Contours):
    """OpenCV's structured forests (Dollar and Zitnick, ICCV 2013), which MCG's authors also use.

    `model` is a file that OpenCV reads, such as model.yml.gz of opencv_extra. Raises `InputError` if it is not: OpenCV
    itself would end the process if numbers are missing.
    """

    smallest = 64  # a patch of 32 pixels must fit at the smallest of the model's scales

    def __init__(self, model: str | Path) -> None:
        try:
            stored = cv2.FileStorage(str(model), cv2.FILE_STORAGE_READ)  # its nodes are freed with it
            options = stored.getNode("options")
            missing = [name for name in POSITIVE if options.empty() or not options.getNode(name).real() > 0]
        except (cv2.error, SystemError) as error:
            raise InputError(f"{model}: not a model of OpenCV's structured edges ({error}).") from error
        if missing:
            raise InputError(f"{model}: not a model of OpenCV's structured edges, as it lacks {', '.join(missing)}.")
        self.forest = cv2.ximgproc.createStructuredEdgeDetection(str(model))

    def map(self, image: Pixels) -> Pixels:
        """The forest's edges, from 0 to 255."""
        strength = self.forest.detectEdges(image.astype(np.float32) / 255)
        return np.clip(255 * strength, 0, 255).round().astype(np.uint8)


POSITIVE = (
    "numberOfGradientOrientations",
    "numberOfTrees",
    "numberOfTreesToEvaluate",
    "patchInnerSize",
    "patchSize",
    "selfsimilarityGridSize",
    "shrinkNumber",
    "stride",
)
"""The options that a model of structured edges must have."""


def detector(model: str | Path, options: Mapping[str, Any]) -> Contours:
    """The detector of a model file. `options` are a proposer's: detector, half_precision."""
    if options["detector"] == "structured_edges":
        return StructuredEdges(model)
    return HEDContours(load_hed(model), options["half_precision"])


def working_size(height: int, width: int, most_pixels: int) -> tuple[int, int]:
    """The working size of an image of `height` x `width`: the same shape with at most `most_pixels`."""
    shrink = min(1.0, (most_pixels / (height * width)) ** 0.5)
    return max(1, round(height * shrink)), max(1, round(width * shrink))


def resize(pixels: Pixels, height: int, width: int) -> Pixels:
    """Resizes pixels (H, W) or (H, W, 3): by averaging to smaller sizes, else by linear interpolation."""
    if pixels.shape[:2] == (height, width):
        return pixels
    smaller = height * width < pixels.shape[0] * pixels.shape[1]
    resized = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return np.asarray(resized, np.uint8)

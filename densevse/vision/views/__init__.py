"""The views that a network makes of an image, a module each, named like the view, whose `Extraction` is EXTRACTION.

`whole` and `grid` are given the same pixels, as methods that read different views should be. Kiros 2014 and sm-LSTM do
not say what they take.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.vision.networks import Network
from densevse.vision.resizing import Pixels


class Extraction(ABC):
    """The crops of an image that a network is shown, and the features that are made of its activations."""

    crops_of_image: ClassVar[int] = 1

    @abstractmethod
    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(crops, size, size, 3) of an image (height, width, 3); `resize`: its shorter side before cuts."""

    def features(self, network: Network, pixels: Pixels, layer: str) -> NDArray[np.float32]:
        """(images, D) of crops (images, crops, size, size, 3): the mean of a layer's vectors over an image's crops."""
        vectors: Tensor = network.features(planes(pixels), layer).unflatten(0, pixels.shape[:2]).mean(dim=1)
        return vectors.cpu().numpy()


def planes(pixels: Pixels) -> Tensor:
    """(images * crops, 3, size, size) of (images, crops, size, size, 3)."""
    return torch.from_numpy(pixels).flatten(0, 1).permute(0, 3, 1, 2)


def extraction_of(view: str) -> Extraction:
    """The extraction of a view; by name, so that only jobs which make such features depend on its module."""
    found: Extraction = import_module(f"{__name__}.{view}").EXTRACTION
    return found

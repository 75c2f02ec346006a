"""The views that a network computes of an image, one module for each, which assigns its `Extraction` to EXTRACTION.

`whole` and `grid` read the same pixels, so that methods that read different views are comparable. Kiros 2014 and
sm-LSTM do not say which pixels they read.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.vision.crops import Pixels
from densevse.vision.networks import Network


class Extraction(ABC):
    """The crops of an image that a network reads, and the features computed from its activations."""

    crops_of_image: ClassVar[int] = 1

    @abstractmethod
    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(crops, size, size, 3) of an image (height, width, 3); `resize` is its shorter side before crops are cut."""

    def features(self, network: Network, pixels: Pixels, layer: str) -> NDArray[np.float32]:
        """(images, D) of crops (images, crops, size, size, 3): the mean of a layer's vectors over an image's crops."""
        vectors: Tensor = network.features(planes(pixels), layer).unflatten(0, pixels.shape[:2]).mean(dim=1)
        return vectors.cpu().numpy()


def planes(pixels: Pixels) -> Tensor:
    """(images * crops, 3, size, size) of (images, crops, size, size, 3)."""
    return torch.from_numpy(pixels).flatten(0, 1).permute(0, 3, 1, 2)


def load_extraction(view: str) -> Extraction:
    """The extraction of a view, imported by name, so that only jobs that compute such features depend on its module."""
    found: Extraction = import_module(f"{__name__}.{view}").EXTRACTION
    return found

"""The views of images that methods read; each is opened by a module here that its entry in VIEWS names.

densevse/config/registries.py says how to add a view. A module here assigns its class to VIEW.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.config.registries import VIEWS
from densevse.data.files import Artifacts
from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices
from snakeproof.schema import Schema


class View(ABC):
    """A view of the images of a split, in their order."""

    features: ClassVar[Schema | None] = None
    """The schema of the features that the view reads; None if it reads other artifacts."""

    @classmethod
    @abstractmethod
    def read(cls, artifacts: Artifacts, name: str, image_ids: NDArray[np.object_]) -> Self:
        """Opens the view `name` of some images. Raises `InputError` that names the first image without a value."""

    @classmethod
    def size(cls, artifacts: Artifacts, name: str) -> int:
        """The length of a vector."""
        return int(artifacts.stores[name].shape[-1])

    @abstractmethod
    def take(self, images: Indices) -> Tensor | Stored:
        """(images, ...) values of some of the split's images."""

    def send_to(self, device: torch.device, most: int, images: Indices, ranks: Indices) -> int:
        """Prepares the view for a GPU: features in batches are then `Stored`, and `to_device` makes tensors of them.

        `images` and `ranks` name all that batches will take. If the values of these have at most `most` bytes, they are
        kept in the GPU's memory. Returns the bytes that are kept.
        """
        return 0


class ViewOfRegions(View):
    """A view with several values for each image: its regions, of which the first is the whole image."""

    @abstractmethod
    def all_regions(self, images: Indices) -> tuple[Indices, Indices]:
        """Every region of some images: the image (counted among those asked for) and the rank of each."""

    @abstractmethod
    def take_regions(self, images: Indices, owner: Indices, rank: Indices) -> tuple[Tensor | Stored, Tensor, Tensor]:
        """Some regions of some images, given by owner (the image's place among those asked for, ascending) and rank.

        Returns (images, R, ...) values, where R is the largest number of regions of one image and missing ones are
        zero; (images, R) bool, true where a region exists; and (images, R) class scores, infinite for whole images.
        """


def view_class(name: str) -> type[View]:
    """The class that opens a view, imported by name, so that only jobs that read the view depend on its module."""
    found: type[View] = import_module(f"{__name__}.{VIEWS[name].opened_by}").VIEW
    return found

"""The views of images, as methods are given them: each is opened by a module here that its declaration names.

See densevse/config/declared/views for how a view is added. The class of a module here is called VIEW.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schema import Schema
from densevse.config.declared.views import VIEWS
from densevse.data.artifacts import Artifacts
from densevse.runtime.arrays import Indices


class View(ABC):
    """A view of the images of a split, in their order."""

    features: ClassVar[Schema | None] = None
    """The schema of the features that it is opened from; none where it is made of other artifacts."""

    @classmethod
    @abstractmethod
    def read(cls, artifacts: Artifacts, name: str, image_ids: NDArray[np.object_]) -> Self:
        """Open the view `name` of some images. Raises `InputError` naming the first image that has none."""

    @classmethod
    def size(cls, artifacts: Artifacts, name: str) -> int:
        """The length of its vectors."""
        return int(artifacts.stores[name].shape[-1])

    @abstractmethod
    def take(self, images: Indices) -> Tensor:
        """(images, ...) values of some of the split's images."""


class ViewOfRegions(View):
    """A view that has several values for each image: its regions, of which the first is the whole image."""

    @abstractmethod
    def all_of(self, images: Indices) -> tuple[Indices, Indices]:
        """Every region of some images: which of the images it belongs to, and its rank."""

    @abstractmethod
    def take_some(self, images: Indices, owner: Indices, rank: Indices) -> tuple[Tensor, Tensor, Tensor]:
        """Some regions of some images, given by owner (which of the images; in rising order) and rank.

        Returns (images, R, ...) values, R the most regions that are asked for of one image, zero where there is none;
        (images, R) bool, which of them exist; and (images, R) their class scores, infinite for whole images.
        """


def kind_of_view(name: str) -> type[View]:
    """The class that opens a view; by name, so that only jobs that read such a view depend on its module."""
    found: type[View] = import_module(f"{__name__}.{VIEWS[name].opened_by}").VIEW
    return found

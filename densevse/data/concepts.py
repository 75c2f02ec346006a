"""Images with the concepts that their sentences name, and the regions in which a network looks for these."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.artifacts.store import FeatureStore
from densevse.data.views.regions import RegionsOfImages
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError


@dataclass(frozen=True)
class ConceptTables:
    """The concepts of a data set, and which of its images have them."""

    names: list[str]  # K, by number
    rows: pd.DataFrame  # IMAGES rows of the readable images
    present: NDArray[np.bool_]  # (images, K)

    @classmethod
    def read(cls, images: str, concepts: str, image_concepts: str) -> Self:
        """Reads an image table, CONCEPTS and IMAGE_CONCEPTS.

        Raises `InputError` if there is no concept, or if IMAGE_CONCEPTS lacks an image; the message names it.
        """
        names = schema.read(concepts, CONCEPTS)["concept"].tolist()
        if not names:
            raise InputError(f"{concepts}: there is no concept to predict; check the parses of the training sentences.")
        rows = schema.read(images, IMAGES)
        rows = rows[rows["status"] == "ok"].reset_index(drop=True)
        found = schema.read(image_concepts, IMAGE_CONCEPTS).set_index("image_id")["concepts"]
        missing = rows["image_id"][~rows["image_id"].isin(found.index)]
        if len(missing):
            raise InputError(
                f"{image_concepts}: {len(missing)} images are missing, the first is {missing.iloc[0]!r}; it was made "
                "of another image table. Delete it and run snakemake again."
            )
        present = np.zeros((len(rows), len(names)), bool)
        for row, numbers in enumerate(found[rows["image_id"]]):
            present[row, np.asarray(numbers, np.int64)] = True
        return cls(names, rows, present)

    def split(self, name: str) -> Self:
        """The images of a split. Raises `InputError` if it has none."""
        of_split = (self.rows["split"] == name).to_numpy()
        if not of_split.any():
            raise InputError(f"the data set has no readable image in its split {name}: concepts cannot be learned.")
        return type(self)(self.names, self.rows[of_split].reset_index(drop=True), self.present[of_split])

    def share(self) -> Tensor:
        """(K,) the share of images that have each concept, clipped by half an image from 0 and 1."""
        count = self.present.sum(axis=0)
        return torch.from_numpy((count + 0.5) / (len(self.present) + 1)).float()


@dataclass(frozen=True)
class ConceptBatch:
    """Images with the regions that are scored and the concepts of the images."""

    regions: Tensor  # (N, R, D)
    exists: Tensor  # (N, R) bool, true where a region exists
    present: Tensor  # (N, K) bool, true where an image has a concept


class ImagesWithConcepts:
    """The images of a split, their stored regions and their concepts."""

    def __init__(self, tables: ConceptTables, store: FeatureStore) -> None:
        self._regions = RegionsOfImages(store, tables.rows["image_id"].to_numpy(object), "regions")
        self.present = tables.present

    def __len__(self) -> int:
        """The number of images."""
        return len(self.present)

    def batch(self, images: Indices, regions: Literal["whole", "regions"]) -> ConceptBatch:
        """Some images, with the whole image (region 0) alone or with all their regions."""
        every = np.arange(len(images))
        wanted = (every, np.zeros_like(every)) if regions == "whole" else self._regions.all_of(images)
        vectors, exists, _ = self._regions.take_some(images, *wanted)
        return ConceptBatch(vectors, exists, torch.from_numpy(self.present[images]))

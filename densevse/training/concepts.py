"""The training of a concept network: its images with their concepts, and two tasks.

One task trains its last layer on stored features, the other trains all layers on pixels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.config.networks import NetworkInput
from densevse.config.training import Recipe
from densevse.data.files import Files
from densevse.data.views.regions import RegionsOfImages
from densevse.evaluation.average_precision import mean_average_precision
from densevse.methods.interface import Moment, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.models.files import write_weights
from densevse.runtime.arrays import Indices
from densevse.training.loop import TrainingSpec, drive
from densevse.training.task import Task
from densevse.vision.concept_network import head, max_pool_regions, multi_label_loss, replace_head
from densevse.vision.crops import squeeze_image
from densevse.vision.networks import load_module, standardise_pixels
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.store import FeatureStore
from snakeproof.strict import Strict, validate


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
        wanted = (every, np.zeros_like(every)) if regions == "whole" else self._regions.all_regions(images)
        vectors, exists, _ = self._regions.take_regions(images, *wanted)
        assert isinstance(vectors, Tensor)  # as the view was not sent to a GPU
        return ConceptBatch(vectors, exists, torch.from_numpy(self.present[images]))


_AT_ONCE = 128  # images in a batch of validation
Views = Literal["whole", "regions"]


class ConceptTask(Task):
    """A training of a concept network, whose outputs have the concepts' `names`; `classes` is the file of these."""

    selects = "mean_average_precision"
    parameters = Strict()
    names: Sequence[str]
    classes: str

    def save(self, path: Path, **found: Any) -> None:
        """Writes the trained module, and the names of its outputs in order."""
        write_weights(self.module, path, **found)
        write_text("".join(f"{name}\n" for name in self.names), Path(self.classes))


class ConceptHead(ConceptTask):
    """Trains only the last layer, on stored features; validates, as it predicts, by the best of all regions."""

    def __init__(self, tables: ConceptTables, store: FeatureStore, learns_from: Views, classes: str) -> None:
        """`classes` is the file of the concepts' names."""
        train, val = tables.split("train"), tables.split("val")
        self.module: nn.Linear = head(store.shape[0], train.share())
        self.train, self.val = ImagesWithConcepts(train, store), ImagesWithConcepts(val, store)
        self.learns_from, self.names, self.classes = learns_from, tables.names, classes
        self.examples = len(self.train)

    def batch(self, examples: Indices, epoch: int) -> ConceptBatch:
        """The images of these numbers."""
        return self.train.batch(examples, self.learns_from)

    def loss(self, batch: ConceptBatch, moment: Moment) -> Tensor:
        """Eq 1, the mean over the batch's images."""
        return multi_label_loss(self._logits(batch), batch.present).mean()

    def validate(self) -> dict[str, float]:
        """The mean average precision by the best region, and by the whole image alone."""
        return {
            "mean_average_precision": self._mean_average_precision("regions"),
            "mean_average_precision_whole": self._mean_average_precision("whole"),
        }

    def _mean_average_precision(self, regions: Views) -> float:
        found = []
        with evaluation(self.module):
            for images in batches(len(self.val), _AT_ONCE):
                batch = to_device(self.val.batch(images, regions), self.module.weight.device)
                found.append(self._logits(batch).cpu().numpy())
        return mean_average_precision(np.concatenate(found), self.val.present)

    def _logits(self, batch: ConceptBatch) -> Tensor:
        return max_pool_regions(self.module(batch.regions), batch.exists)


@dataclass(frozen=True)
class PixelBatch:
    """Whole images, resized to squares, and the concepts that they have."""

    pixels: Tensor  # (N, 3, size, size) uint8
    present: Tensor  # (N, K) bool


class WholeImages:
    """The whole images of a split, resized to squares as regions are, and decoded on demand."""

    def __init__(self, tables: ConceptTables, files: Photographs, size: int) -> None:
        self.present, self._files, self._size = tables.present, files, size
        self._named = list(zip(tables.rows["source"], tables.rows["file"], strict=True))

    def __len__(self) -> int:
        """The number of images."""
        return len(self.present)

    def batch(self, images: Indices, mirrored: NDArray[np.bool_]) -> PixelBatch:
        """Some images; the `mirrored` ones are flipped."""
        squares = np.stack([self._square(*self._named[image]) for image in images])
        squares[mirrored] = squares[mirrored][:, :, ::-1]
        return PixelBatch(torch.from_numpy(squares).permute(0, 3, 1, 2), torch.from_numpy(self.present[images]))

    def _square(self, source: str, file: str) -> NDArray[np.uint8]:
        return squeeze_image(self._files.pixels(source, file), self._size)


class ConceptsFromPixels(ConceptTask):
    """Trains all layers on the pixels of whole images, half of them mirrored; validates on whole images."""

    def __init__(
        self, tables: ConceptTables, images: Photographs, job: "PixelConceptJob", weights: str, classes: str
    ) -> None:
        """Starts from `weights` that were trained on other classes; `classes` is the file of the concepts' names.

        Raises `InputError` if the network's last layer is not linear.
        """
        train, val = tables.split("train"), tables.split("val")
        try:
            self.module = replace_head(load_module(job.architecture, weights).requires_grad_(True), train.share())
        except ValueError as error:
            raise InputError(f"{job.architecture} cannot predict concepts: {error}") from error
        self.train, self.val = (WholeImages(split, images, job.pixels.size) for split in (train, val))
        self.pixels, self.seed, self.names, self.classes = job.pixels, job.seed, tables.names, classes
        self.examples = len(self.train)

    def batch(self, examples: Indices, epoch: int) -> PixelBatch:
        """The images of these numbers; the epoch decides which are mirrored."""
        drawn = [np.random.default_rng((self.seed, epoch, int(image))).random() < 0.5 for image in examples]
        return self.train.batch(examples, np.array(drawn))

    def loss(self, batch: PixelBatch, moment: Moment) -> Tensor:
        """Eq 1, the mean over the batch's images."""
        logits = self.module(self._standardise_pixels(batch.pixels))
        return multi_label_loss(logits.float(), batch.present).mean()

    def validate(self) -> dict[str, float]:
        """The mean average precision by the whole image; all regions would be many times as many crops."""
        found, device = [], module_device(self.module)
        with evaluation(self.module):
            for images in batches(len(self.val), _AT_ONCE):
                batch = to_device(self.val.batch(images, np.zeros(len(images), bool)), device)
                found.append(self.module(self._standardise_pixels(batch.pixels)).float().cpu().numpy())
        return {"mean_average_precision": mean_average_precision(np.concatenate(found), self.val.present)}

    def _standardise_pixels(self, pixels: Tensor) -> Tensor:
        return standardise_pixels(pixels, self.pixels.mean, self.pixels.std)


class ConceptJob(Recipe):
    """The settings that decide how the last layer of a concept network is trained."""

    concept_network: str = Field(description="its name")
    learns_from: Views = "whole"


class PixelConceptJob(ConceptJob):
    """The settings that decide how all layers of a concept network are trained."""

    built_from: str = Field(description="the network that it is made of")
    architecture: str = Field(description="of this network")
    pixels: NetworkInput


def train_concept_head(
    job: Mapping[str, Any],
    code: str,
    images: str,
    concepts: str,
    image_concepts: str,
    regions: Sequence[str],
    weights: str,
    history: str,
    classes: str,
) -> None:
    """The job that trains the last layer on stored REGION_FEATURES, whose region 0 is the whole image; see `drive`.

    `job` has the settings of `ConceptJob`. `classes` gets the names of the concepts, in the order of the outputs.
    Raises `InputError` as `ConceptTables` does.
    """
    settings = validate(ConceptJob, {**job, "code": code}, "concept_networks")
    tables = {"images": images, "concepts": concepts, "image_concepts": image_concepts}

    def make() -> ConceptHead:
        store = FeatureStore(regions, REGION_FEATURES)
        return ConceptHead(ConceptTables.read(**tables), store, settings.learns_from, classes)

    spec = TrainingSpec(settings, (settings.concept_network,), Files({**tables, "regions": list(regions)}))
    drive(spec, make, weights, history)


def train_concept_network(
    job: Mapping[str, Any],
    code: str,
    image_table: str,
    concepts: str,
    image_concepts: str,
    sources: Mapping[str, str],
    start: str,
    weights: str,
    history: str,
    classes: str,
) -> None:
    """The job that trains all layers, from the weights `start` that were trained on other classes; see `drive`.

    `job` has the settings of `PixelConceptJob`, and `sources` are the data set's files by source name. `classes` is as
    in `train_concept_head`. Also raises `InputError` as `ConceptTables` does, or if the network's last layer is not
    linear.
    """
    settings = validate(PixelConceptJob, {**job, "code": code}, "concept_networks")
    tables = {"images": image_table, "concepts": concepts, "image_concepts": image_concepts}

    def make() -> ConceptsFromPixels:
        known = ConceptTables.read(**tables)
        return ConceptsFromPixels(known, Photographs(sources, known.rows), settings, start, classes)

    spec = TrainingSpec(settings, (settings.concept_network,), Files({**tables, "start": start}))
    drive(spec, make, weights, history)

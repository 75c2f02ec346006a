"""Trains the network of `scenes`, with the same loop as every method."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.config.networks import NetworkInput
from densevse.config.training import Recipe
from densevse.data.files import Files
from densevse.methods.interface import Moment, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.models.files import write_weights
from densevse.runtime.arrays import Indices
from densevse.scenes.network import HIDDEN, UNDECIDED, ScenesNet, WindowBatch, Windows
from densevse.training.loop import TrainingSpec, drive
from densevse.training.task import Task
from densevse.vision.networks import read_classes, standardise_pixels
from snakeproof.schema import read
from snakeproof.strict import Strict, validate

VALIDATED, VALIDATED_AT_ONCE = 3000, 200  # windows


class NetworkJob(Recipe):
    """The settings that decide how the network is trained."""

    pixels: NetworkInput
    classes: list[str] = Field(description="the names of its classes, in the order of its outputs")


class NetworkOfScenes(Task):
    """The training task: predict the class of each window, and its facts."""

    selects = "accuracy"

    def __init__(self, windows: Windows, validation: Windows, pixels: NetworkInput, seed: int) -> None:
        """`windows` are those of the training split, `validation` those of val."""
        self.windows, self.validation, self.seed, self.pixels = windows, validation, seed, pixels
        self.network = ScenesNet(len(windows.classes))
        self.network.features.to(memory_format=torch.channels_last)
        self.facts = nn.Linear(HIDDEN, windows.fact_count)
        self.module = nn.ModuleDict({"network": self.network, "facts": self.facts})
        self.parameters = Strict()
        self.examples = len(windows)

    def batch(self, examples: Indices, epoch: int) -> WindowBatch:
        """The windows of these numbers, drawn again in each epoch."""
        return self.windows.batch(examples.tolist(), self.seed, epoch)

    def loss(self, batch: WindowBatch, moment: Moment) -> Tensor:
        """Cross entropy of the classes, and a tenth of the facts' binary cross entropies."""
        feature, logits = self.network.feature_and_logits(self._standardise_pixels(batch.pixels))
        loss = functional.cross_entropy(logits, batch.classes, ignore_index=UNDECIDED)
        # A sum over the facts: most are false, and a mean would vanish beside the classes' loss.
        facts = self.facts(feature)
        found = functional.binary_cross_entropy_with_logits(facts, batch.facts, reduction="sum")
        return loss + found / (10 * len(batch.pixels))

    def validate(self) -> dict[str, float]:
        """The accuracy on val's windows that have a class."""
        device, right, known = module_device(self.network), 0, 0
        with evaluation(self.module):
            for numbers in batches(min(VALIDATED, len(self.validation)), VALIDATED_AT_ONCE):
                batch = to_device(self.validation.batch(numbers.tolist(), self.seed, 0), device)
                best = self.network(self._standardise_pixels(batch.pixels)).argmax(dim=1)
                right += int((best == batch.classes).sum())
                known += int((batch.classes != UNDECIDED).sum())
        return {"accuracy": right / max(1, known)}

    def save(self, path: Path, **found: Any) -> None:
        """Writes the network, without the layer of the facts."""
        write_weights(self.network, path, **found)

    def _standardise_pixels(self, pixels: Tensor) -> Tensor:
        """(N, size, size, 3) uint8 to (N, 3, size, size) float32."""
        planes = pixels.permute(0, 3, 1, 2).contiguous()
        scaled = standardise_pixels(planes, self.pixels.mean, self.pixels.std)
        return scaled.contiguous(memory_format=torch.channels_last)


def train_network(
    job: Mapping[str, Any],
    code: str,
    image_table: str,
    box_table: str,
    sources: Mapping[str, str],
    class_names: str,
    weights: str,
    history: str,
) -> None:
    """The job that trains on the pictures and true boxes of the training split, and validates on val; see `drive`.

    `job` has the settings of `NetworkJob` but the names of the classes, which the file `class_names` has. `sources` are
    the files of the pictures by source name. Raises `InputError` for a thing of no class.
    """
    settings = validate(NetworkJob, {**job, "classes": read_classes(class_names), "code": code}, "networks")
    tables = {"images": image_table, "boxes": box_table}

    def make() -> NetworkOfScenes:
        train, val = (_windows(tables, sources, settings, split) for split in ("train", "val"))
        return NetworkOfScenes(train, val, settings.pixels, settings.seed)

    drive(TrainingSpec(settings, ("scenes_net",), Files(tables)), make, weights, history)


def _windows(tables: Mapping[str, str], sources: Mapping[str, str], job: NetworkJob, split: str) -> Windows:
    images = read(tables["images"], IMAGES)
    shown = images[(images["split"] == split) & (images["status"] == "ok")]
    return Windows(shown, read(tables["boxes"], BOXES), Photographs(sources, shown), job.classes, job.pixels.size)

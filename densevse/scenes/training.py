"""The task of the network of `scenes`, trained by the same loop as every method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.config.strict import Strict
from densevse.config.training import NamedPhase, Training
from densevse.data.ragged import Indices
from densevse.datasets.images import ImageFiles
from densevse.inference.encoding import batches, evaluation
from densevse.inference.models import write_weights
from densevse.methods.interface import Moment, device_of, to_device
from densevse.runtime.numerics import seed_everything, set_up
from densevse.scenes.network import HIDDEN, UNDECIDED, Batch, ScenesNet, Windows
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Plan, Trainer, write_history
from densevse.training.task import Task
from densevse.vision.networks import standardised

TRAINING = Training(optimizer="adamw", weight_decay=1e-4, batch_size=32)
PHASES = (
    NamedPhase(name="rise", epochs=2, learning_rate=1.2e-4, final_learning_rate=3e-3),
    NamedPhase(name="fall", epochs=3, learning_rate=3e-3, final_learning_rate=0.0),
)
VALIDATED, VALIDATED_AT_ONCE = 600, 200  # windows


@dataclass(frozen=True)
class Recipe:
    """How the network is trained, besides its data; `code` is the digest of the code that a checkpoint must be of."""

    training: Training = TRAINING
    phases: Sequence[NamedPhase] = PHASES
    seed: int = 0
    threads: int = 1
    code: str = ""


class NetworkOfScenes(Task):
    """Tells the class of each window, and which facts are so.

    It is validated on windows of the training pictures that no epoch draws: labels of other splits are not looked at.
    """

    selects = "accuracy"

    def __init__(self, windows: Windows, normalize: Mapping[str, Sequence[float]], seed: int) -> None:
        """`normalize` has the mean and std of each channel, of values from 0 to 1."""
        self.windows, self.seed, self.normalize = windows, seed, normalize
        self.network = ScenesNet(len(windows.classes))
        self.network.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.facts = nn.Linear(HIDDEN, windows.facts)
        self.module = nn.ModuleDict({"network": self.network, "facts": self.facts})
        self.parameters = Strict()
        self.examples = len(windows)

    def batch(self, examples: Indices, epoch: int) -> Batch:
        """The windows of these numbers, drawn anew in each epoch."""
        return self.windows.batch(examples.tolist(), self.seed, epoch)

    def loss(self, batch: Batch, moment: Moment) -> Tensor:
        """Cross entropy of the classes, and a tenth of the facts' binary cross entropies."""
        feature, logits = self.network.feature_and_logits(self._normalized(batch.pixels))
        loss = functional.cross_entropy(logits, batch.classes, ignore_index=UNDECIDED)
        # Summed over the facts: most are not so, and a mean would vanish beside the classes' loss.
        facts = self.facts(feature)
        found = functional.binary_cross_entropy_with_logits(facts, batch.facts, reduction="sum")
        return loss + found / (10 * len(batch.pixels))

    def validate(self) -> dict[str, float]:
        """The share of windows whose class is told, of those that have one."""
        device, told, known = device_of(self.network), 0, 0
        with evaluation(self.module):
            for numbers in batches(min(VALIDATED, len(self.windows)), VALIDATED_AT_ONCE):
                batch = to_device(self.windows.batch(numbers.tolist(), self.seed, 0), device)
                best = self.network(self._normalized(batch.pixels)).argmax(dim=1)
                told += int((best == batch.classes).sum())
                known += int((batch.classes != UNDECIDED).sum())
        return {"accuracy": told / max(1, known)}

    def _normalized(self, pixels: Tensor) -> Tensor:
        """(N, size, size, 3) uint8 to (N, 3, size, size) float32."""
        planes = pixels.permute(0, 3, 1, 2).contiguous()
        scaled = standardised(planes, self.normalize["mean"], self.normalize["std"])
        return scaled.contiguous(memory_format=torch.channels_last)


def train_network(
    tables: Mapping[str, str],
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    classes: list[str],
    recipe: Recipe,
    weights: str | Path,
    history: str | Path,
) -> None:
    """Train on the pictures and true boxes of the training split; write the weights (safetensors) and the history.

    `tables` are the paths of images and boxes, `sources` those of image files by source name; `network` has the keys
    size, mean and std of the network's entry in the configuration, `classes` are the names of its classes. Interrupted,
    it goes on from its checkpoint. Raises `InputError` for a thing of no class.
    """
    device = set_up(recipe.threads)
    phases = [phase.model_dump(mode="json") for phase in recipe.phases]
    settings = {"network": dict(network), "training": recipe.training.model_dump(mode="json"), "phases": phases}
    made_from = {**settings, "classes": classes, "seed": recipe.seed, "threads": recipe.threads, "device": device.type}
    checkpoint = Checkpoint(weights, fingerprint({**made_from, "code": recipe.code}, tables.values()))
    seed_everything(recipe.seed, "scenes_net")
    task = NetworkOfScenes(_windows(tables, sources, classes, network["size"]), network, recipe.seed)
    task.module.to(device)
    rows = Trainer(task, Plan(recipe.training, recipe.phases, recipe.seed), checkpoint).run()
    traced = lineage(made_from, tables)
    write_history(rows, history, traced)
    write_weights(task.network, weights, traced)
    checkpoint.remove()


def _windows(tables: Mapping[str, str], sources: Mapping[str, str], classes: list[str], size: int) -> Windows:
    images = read(tables["images"], IMAGES)
    training = images[(images["split"] == "train") & (images["status"] == "ok")]
    return Windows(training, read(tables["boxes"], BOXES), ImageFiles(sources), classes, size)

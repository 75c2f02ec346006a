"""`make feature-scales`: the settings of Flickr30K and MS-COCO on features of other scales, as a table of verdicts.

It reads the artifacts of a data set that a run of the workflow left in results/, such as Flickr8k's, and takes each
method's settings on another data set. A trial is the first epochs of round 0.
"""

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from densevse.command.shared import configured_project
from densevse.config.training import NamedPhase, TrainingJob
from densevse.dag.inputs import structure_files, view_files
from densevse.dag.project import Project
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.evaluation.bootstrap import expected_metrics
from densevse.evaluation.protocols import folds
from densevse.methods.interface import DualEncoder
from densevse.models.encoding import encode_images
from densevse.training.loop import TrainingSpec, drive
from densevse.training.retrieval import Retrieval, prepare_task
from snakeproof.errors import InputError
from snakeproof.schema import Schema
from snakeproof.store import FeatureStore

HEAD = ["| method | images | scale | steps | loss of each epoch | rsum of each epoch | chance | alike | verdict |"]
HEAD += ["|---|---:|---:|---:|---|---|---:|---:|---|"]

UNSCALED = {"concepts", "concepts_whole"}
"""Views of probabilities, whose scale no network chooses."""


@dataclass(frozen=True)
class Trial:
    """A variant with its settings on one data set, trained on images of another."""

    variant: str
    scale: float
    images: int
    settings_of: str = "flickr30k"
    epochs: int = 3
    validation_images: int = 250
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """The course of a trial."""

    losses: list[float]  # the mean of each epoch
    rsums: list[float]  # on val, after each epoch
    chance: float  # the rsum of a random ranking
    steps: int
    alike: float  # the mean cosine of two images of val; not a number for a method without vectors of images
    error: str = ""

    @property
    def verdict(self) -> str:
        """`diverges` if the loss became infinite; `collapses` if val is near chance; otherwise `learns`."""
        if self.error:
            return "diverges"
        return "learns" if self.rsums[-1] > 2 * self.chance else "collapses"


class ScaledStore(FeatureStore):
    """Features times a factor, in the type in which they are stored."""

    def __init__(self, paths: Sequence[str], schema: Schema, scale: float) -> None:
        super().__init__(paths, schema)
        self.scale = self.dtype.type(scale)

    def gather(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """The vectors of some rows times the factor."""
        found: NDArray[Any] = super().gather(indices) * self.scale
        return found


class ScaledInputs(Inputs):
    """A data set's artifacts with scaled features."""

    def __init__(self, files: Files, sentences: Sequence[str], scale: float) -> None:
        super().__init__(files, sentences)
        scaled = self.stores.keys() - UNSCALED
        self.stores |= {name: ScaledStore(files.view(name), self.stores[name].schema, scale) for name in scaled}


def shorten_phases(phases: Sequence[NamedPhase], epochs: int) -> list[NamedPhase]:
    """The first epochs of a round."""
    each = [phase.model_copy(update={"epochs": 1}) for phase in phases for _ in range(phase.epochs)][:epochs]
    grouped = [list(same) for _, same in itertools.groupby(each, key=lambda phase: phase.name)]
    return [same[0].model_copy(update={"epochs": len(same)}) for same in grouped]


def trial_files(project: Project, dataset: str, trial: Trial) -> Files:
    """The artifacts of a data set that a variant reads with its settings on another."""
    entry = project.variant(trial.settings_of, trial.variant)
    named = view_files(project, trial.variant, dataset, entry.views, entry.networks)
    named |= structure_files(project, dataset, entry.sentences, entry.dependencies)
    vectors = project.datasets[dataset].word_vectors
    if entry.word_vectors and vectors:
        named["word_vectors"] = f"{project.config.results}/{dataset}/vocabulary/vectors-{vectors}.parquet"
    return Files(named)


def trial_job(project: Project, trial: Trial) -> TrainingJob:
    """The shortened training of round 0. Raises `InputError` for a variant that is not trained in steps there."""
    entry = project.variant(trial.settings_of, trial.variant)
    if not entry.round_phases(0):
        raise InputError(f"{trial.variant}: its round 0 has no phases, so there are no losses to follow")
    training = {
        **entry.training.model_dump(),  # type: ignore[union-attr]
        "training_images": trial.images,
        "validation_images": trial.validation_images,
        "checkpoint_steps": 10**9,
    }
    return TrainingJob(
        method=entry.model,
        parameters=entry.parameters.model_dump(),
        sentences=list(entry.sentences),
        training=training,
        phases=shorten_phases(entry.round_phases(0), trial.epochs),
        seed=trial.seed,
    )


def chance_rsum(task: Retrieval) -> float:
    """The rsum of a random ranking of val."""
    rows = task.val.rows
    return expected_metrics(rows, folds(rows, "full"))["rsum"]


def mean_cosine(task: Retrieval) -> float:
    """The mean cosine of two images of val."""
    method = task.module
    if not isinstance(method, DualEncoder):
        return float("nan")
    vectors = normalize(encode_images(method, task.val)[0], dim=1)
    count = len(vectors)
    return float((vectors.sum(dim=0).square().sum() - count) / (count * (count - 1)))


class Recording(Retrieval):
    """The training task, which remembers the loss of each batch and the rsum of each epoch."""

    losses: list[float]
    rsums: list[float]
    ends: list[int]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.losses, self.rsums, self.ends = [], [], []

    def loss(self, *given: Any) -> torch.Tensor:
        """The loss of a batch."""
        loss = super().loss(*given)
        self.losses.append(float(loss.detach()))
        return loss

    def validate(self) -> dict[str, float]:
        """The measures of an epoch."""
        found = super().validate()
        self.rsums.append(found["rsum"])
        self.ends.append(len(self.losses))
        return found

    def save(self, path: Path, **found: Any) -> None:
        """The weights of a trial are not kept."""

    def means(self) -> list[float]:
        """The mean loss of each epoch."""
        return [float(np.mean(self.losses[begin:end])) for begin, end in itertools.pairwise([0, *self.ends])]


def run_trial(files: Files, job: TrainingJob, scale: float) -> Outcome:
    """Runs a training on scaled features. Raises `InputError` if an artifact is missing or does not fit."""
    kept: list[Recording] = []

    def make() -> Recording:
        task = prepare_task(job, ScaledInputs(files, job.sentences, scale))
        kept.append(Recording(task.module, task.train, task.val))
        return kept[0]

    with TemporaryDirectory() as folder:
        place = Path(folder)
        error = ""
        try:
            drive(TrainingSpec(job, (job.method, "round0"), files), make, place / "model", place / "history.parquet")
        except InputError as found:
            if not kept:
                raise
            error = str(found)
    task = kept[0]
    return Outcome(task.means(), task.rsums, chance_rsum(task), len(task.losses), mean_cosine(task), error)


def line(trial: Trial, outcome: Outcome) -> str:
    """A row of the table."""
    losses = ", ".join(f"{loss:.4g}" for loss in outcome.losses)
    rsums = ", ".join(f"{rsum:.0f}" for rsum in outcome.rsums)
    return (
        f"| {trial.variant} | {trial.images:,} | {trial.scale:g} | {outcome.steps} | {losses} | {rsums} "
        f"| {outcome.chance:.0f} | {outcome.alike:.2f} | {outcome.verdict} |"
    )


def main(asked: argparse.Namespace) -> None:
    """Runs the trials one after the other, and prints a row after each."""
    project = configured_project(asked.configfile)
    print(*HEAD, sep="\n", flush=True)
    for variant in asked.methods:
        for images in asked.images:
            for scale in asked.scales:
                trial = Trial(variant, scale, images, asked.settings_of, asked.epochs)
                begun = time.process_time()
                outcome = run_trial(trial_files(project, asked.dataset, trial), trial_job(project, trial), scale)
                print(line(trial, outcome), flush=True)
                print(f"{variant}: {time.process_time() - begun:.0f} s of one core", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+", help="variants of config/methods")
    parser.add_argument("--dataset", default="flickr8k", help="the data set whose artifacts are read")
    parser.add_argument("--settings-of", default="flickr30k", help="the data set whose settings are tried")
    parser.add_argument("--scales", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--images", type=int, nargs="+", default=[1500])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE")
    try:
        main(parser.parse_args())
    except InputError as error:
        sys.exit(f"feature-scales: {error}")
    except FileNotFoundError as error:
        sys.exit(f"feature-scales: {error.filename} is not there; make it with snakemake, or name another --dataset.")

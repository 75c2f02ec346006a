"""Runs a training job: seeds it, resumes from a checkpoint, and writes weights and history."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.config.training import Recipe
from densevse.data.files import Files
from densevse.runtime.logs import logger
from densevse.runtime.numerics import seed_everything, set_up
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Trainer, computed_in, write_history
from densevse.training.task import Task


@dataclass(frozen=True)
class Subject:
    """The settings and files that decide what a job trains."""

    job: Recipe
    names: tuple[str, ...]  # part of the seed, so that two subjects with one seed differ
    inputs: Files
    untraced: Collection[str] = ()  # inputs that the lineage leaves out
    of: Identity | None = None  # the identity of the history, if others read it
    starts_trained: bool = False  # starts from a trained model's weights, which are kept if no epoch is better


class Trainable(NamedTuple):
    """A task before its training, and a function that writes its weights afterwards."""

    task: Task
    save: Callable[[Path, dict[str, Any]], None]  # takes the path and the weights' lineage


def drive(subject: Subject, make: Callable[[], Trainable], weights: str | Path, history: str | Path) -> None:
    """Trains the task that `make` yields, and writes its `weights` and `history`.

    An interrupted job saves a checkpoint beside the weights. It continues from there when it runs again with the same
    settings, inputs and code. Raises `Interrupted` and `InputError` as `Trainer.run` does.
    """
    job = subject.job
    device = set_up(job.threads, job.training.precision)
    precision = computed_in(job.training, device)
    if device.type == "cuda" and precision != job.training.precision:
        logger.warning("precision: this GPU does not compute in %s; training in float32", job.training.precision)
    # Only the values that the rule sets: a new setting with a default that no code reads yet changes no training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(weights, fingerprint(given, subject.inputs.paths()))
    seed_everything(job.seed, *subject.names)
    task, save = make()
    task.module.to(device)
    rows = Trainer(task, job, checkpoint, subject.starts_trained).run()
    settings = {**job.model_dump(mode="json", exclude={"code"}), "device": device.type}
    settings["computed_in"] = precision
    made_from = lineage(settings, _traced(subject))
    write_history(rows, history, made_from, subject.of)
    save(Path(weights), made_from)
    checkpoint.remove()


def _traced(subject: Subject) -> dict[str, list[str]]:
    return {name: paths for name, paths in subject.inputs.named().items() if name not in subject.untraced}

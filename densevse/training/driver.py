"""The driver of a job that trains: it seeds, goes on from a checkpoint, and writes weights and history."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.config.training import Recipe
from densevse.data.files import Files
from densevse.runtime.numerics import seed_everything, set_up
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Trainer, computed_in, write_history
from densevse.training.task import Task


@dataclass(frozen=True)
class Subject:
    """The settings of what a job trains, and the files that decide it."""

    job: Recipe
    names: tuple[str, ...]  # enter the seed, so that two subjects of one seed differ
    inputs: Files
    untraced: Collection[str] = ()  # inputs that the lineage leaves out
    of: Identity | None = None  # of the history, where others read it
    starts_trained: bool = False  # from the weights of a trained model, which are kept if no epoch is better


class Trainable(NamedTuple):
    """A task before its training, and how its weights are written afterwards."""

    task: Task
    save: Callable[[Path, dict[str, Any]], None]  # is given the path, and what the weights were made from


def drive(subject: Subject, make: Callable[[], Trainable], weights: str | Path, history: str | Path) -> None:
    """Train what `make` yields, and write its `weights` and `history`.

    Interrupted, the job saves a checkpoint beside the weights and goes on from there when it is run again with the same
    settings, inputs and code. Raises `Interrupted` and `InputError` as `Trainer.run` does.
    """
    job = subject.job
    device = set_up(job.threads, job.training.precision)
    # Only what the rule gives: a setting that is new, and whose default nothing reads yet, makes no other training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(weights, fingerprint(given, subject.inputs.paths()))
    seed_everything(job.seed, *subject.names)
    task, save = make()
    task.module.to(device)
    rows = Trainer(task, job, checkpoint, subject.starts_trained).run()
    settings = {**job.model_dump(mode="json", exclude={"code"}), "device": device.type}
    settings["computed_in"] = computed_in(job.training, device)
    made_from = lineage(settings, _traced(subject))
    write_history(rows, history, made_from, subject.of)
    save(Path(weights), made_from)
    checkpoint.remove()


def _traced(subject: Subject) -> dict[str, list[str]]:
    return {name: paths for name, paths in subject.inputs.named().items() if name not in subject.untraced}

"""Runs a training job: seeds it, resumes from a checkpoint, and writes weights and history."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

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
class TrainingSpec:
    """The settings and files that decide what a job trains."""

    job: Recipe
    names: tuple[str, ...]  # part of the seed, so that two trainings with one seed differ
    inputs: Files
    untraced: Collection[str] = ()  # inputs that the lineage leaves out
    of: Identity | None = None  # the identity of the history, if others read it
    starts_trained: bool = False  # starts from a trained model's weights, which are kept if no epoch is better


def drive(spec: TrainingSpec, make: Callable[[], Task], weights: str | Path, history: str | Path) -> None:
    """Trains the task that `make` yields, and writes its `weights` and `history`.

    An interrupted job saves a checkpoint beside the weights. It continues from there when it runs again with the same
    settings, inputs and code. Raises `Interrupted` and `InputError` as `Trainer.run` does.
    """
    job = spec.job
    device = set_up(job.threads, job.training.precision)
    precision = computed_in(job.training, device)
    if device.type == "cuda" and precision != job.training.precision:
        logger.warning("precision: this GPU does not compute in %s; training in float32", job.training.precision)
    # Only the values that the rule sets: a new setting with a default that no code reads yet changes no training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(weights, fingerprint(given, spec.inputs.paths()))
    seed_everything(job.seed, *spec.names)
    task = make()
    task.module.to(device)
    rows = Trainer(task, job, checkpoint, spec.starts_trained).run()
    settings = {**job.model_dump(mode="json", exclude={"code"}), "device": device.type}
    settings["computed_in"] = precision
    made_from = lineage(settings, _traced(spec))
    write_history(rows, history, made_from, spec.of)
    task.save(Path(weights), made_from)
    checkpoint.remove()


def _traced(spec: TrainingSpec) -> dict[str, list[str]]:
    return {name: paths for name, paths in spec.inputs.named().items() if name not in spec.untraced}

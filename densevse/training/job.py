"""A training job, from artifacts to a model and its history: the same for methods and for generators."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from densevse.artifacts.lineage import lineage
from densevse.config.training import TrainingJob
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.inference.models import save_model
from densevse.methods.generators.interface import Generator
from densevse.methods.interface import Method
from densevse.runtime.numerics import set_up
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Plan, Trainer, write_history
from densevse.training.task import Task


def train_task(
    task_of: Callable[[Inputs], Task],
    files: Files,
    job: TrainingJob,
    model: str | Path,
    history: str | Path,
    start: str | None = None,
) -> None:
    """Train what `task_of` makes of the artifacts, a method or a generator, and write its `model` and `history`.

    `start` is the model that it starts from, if any: its weights are kept if no epoch is better. Interrupted, the job
    saves a checkpoint beside the model and goes on from there when it is run again with the same settings, inputs and
    code.
    """
    device = set_up(job.threads)
    # Only what the rule gives: a setting that is new, and whose default nothing reads yet, makes no other training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(model, fingerprint(given, [*files.paths(), *([start] if start else [])]))
    inputs = Inputs(files, job.sentences)
    task = task_of(inputs)
    task.module.to(device)
    plan = Plan(job.training, job.phases, job.seed, job.round, validate_start=start is not None)
    rows = Trainer(task, plan, checkpoint).run()
    made_from = lineage({**job.model_dump(mode="json"), "device": device.type}, _parents(files, start))
    write_history(rows, history, made_from)
    read = {"features": inputs.features_made_from(), "fingerprint": checkpoint.fingerprint}
    save_model(cast(Method | Generator, task.module), job.method, job.sentences, model, {**made_from, **read})
    checkpoint.remove()


def _parents(files: Files, start: str | None) -> dict[str, list[str]]:
    """What a model is made of. The correspondences of a round were made by the model that it starts from."""
    # The weights that a network begins with are known by the features that were made with them.
    named = {name: paths for name, paths in files.named().items() if name not in ("start", "network")}
    return named if start is None or "correspondences" in named else {**named, "start": [start]}

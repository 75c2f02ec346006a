"""Prepares models for training, methods or generators: their data, and how they are saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from densevse.config.training import TrainingJob
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.inference.models import save_model
from densevse.methods.generators.interface import Generator
from densevse.methods.interface import Method
from densevse.training.driver import Trainable
from densevse.training.task import Task


def trainable_model(task_of: Callable[[Inputs], Task], files: Files, job: TrainingJob) -> Trainable:
    """The task that `task_of` makes of the artifacts; the saved model also has its features' lineage."""
    inputs = Inputs(files, job.sentences)
    task = task_of(inputs)

    def save(path: Path, made_from: dict[str, Any]) -> None:
        described = {**made_from, "features": inputs.features_made_from()}
        save_model(cast(Method | Generator, task.module), job.method, job.sentences, path, described)

    return Trainable(task, save)

"""Trainers of the miniature data set's methods, on any device; it imports no simulated one."""

from pathlib import Path

import torch

from densevse.config.methods import MethodConfig
from densevse.config.training import TrainingJob
from densevse.data.inputs import Inputs
from densevse.models.files import build_method
from densevse.training.checkpoints import Checkpoint
from densevse.training.loop import Trainer
from densevse.training.retrieval import Retrieval
from tests.device.files import files_of


def trainer_on(device: torch.device, folder: Path, entry: MethodConfig, job: TrainingJob) -> Trainer:
    """The trainer of a variant before its first step; the folder has the data set."""
    files = files_of(folder, entry.views, entry.sentences, entry.dependencies, entry.word_vectors)
    inputs = Inputs(files, entry.sentences)
    torch.manual_seed(0)
    method = build_method(entry.model, job.parameters, inputs.shapes())
    train, val = (inputs.pairs(split, method.regions_read) for split in ("train", "val"))
    task = Retrieval(method, train, val, siblings=job.training.siblings)
    task.to(device)
    task.module.train()
    return Trainer(task, job, Checkpoint(folder / "none.safetensors", "0" * 64))

"""A training step on a device: the batch does not change how much is launched, and the host hardly waits."""

import numpy as np
import pytest
import torch

from densevse.config.load import variant
from densevse.data.inputs import Inputs
from densevse.inference.models import build
from densevse.methods.interface import Moment, to_device
from densevse.training.checkpoints import Checkpoint
from densevse.training.loop import Trainer
from densevse.training.retrieval import Retrieval
from tests.device.miniature import files_of
from tests.device.test_methods import CONFIG, DATASET, VARIANTS, job_of
from tests.devices import COUNTS, PRETENDED


def trainer_of(made, name, device=PRETENDED):
    entry = variant(CONFIG, name, DATASET)
    files = files_of(made, entry.views, entry.sentences, entry.dependencies, entry.word_vectors)
    job, inputs = job_of(entry), Inputs(files, entry.sentences)
    torch.manual_seed(0)
    method = build(entry.model, job.parameters, inputs.shapes()).to(device)
    task = Retrieval(method, inputs.pairs("train", method.regions_read), inputs.pairs("val", method.regions_read))
    task.module.train()
    return Trainer(task, job, Checkpoint(made / "none.safetensors", "0" * 64))


def counted(trainer, sentences):
    """The launches, by operator, and the waits of a step on these sentences; the optimiser's state is there already."""
    for _ in range(2):
        batch = to_device(trainer.task.batch(sentences, 1), PRETENDED)
        COUNTS.clear()
        trainer.step(batch, Moment(1, "main", trainer.task.parameters), 0.01)
    return COUNTS.operators.copy(), COUNTS.waits.copy()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_step_waits_once_at_most_and_a_larger_batch_has_no_more_launches(made, compute_on, name):
    compute_on(PRETENDED)
    trainer = trainer_of(made, name)
    chosen = np.arange(12)
    (few, waits), (many, _) = (counted(trainer, rows) for rows in (chosen, np.concatenate((chosen, chosen))))
    assert sum(waits.values()) <= 1, waits
    assert not many - few, "operators that are launched more often"

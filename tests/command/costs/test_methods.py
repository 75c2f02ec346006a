"""The arithmetic of a method's step agrees with what torch counts in that step."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from densevse.command.costs.methods import METHODS, Read, step
from densevse.config.load import variant
from densevse.methods.interface import Moment
from tests.device.miniature import FurtherSizes, write_everything
from tests.device.test_methods import CONFIG, DATASET, job_of
from tests.device.trainers import trainer_on
from tests.miniature import KNOWN, Sizes

BATCH, REGIONS, LENGTH, GRID = 24, 5, 256, (9, 128)
VARIANTS = ("vse", "sco", "scan", "sm_lstm", "defrag")
"""Without HM-LSTM: the trees of the small data set are flat."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    known = [*(f"w{number}" for number in range(400)), *KNOWN]
    sizes = Sizes({"train": 30, "val": 4, "test": 3}, known, (10, 12), (1,), (REGIONS,), LENGTH)
    write_everything(folder, sizes, FurtherSizes(grid=GRID, concepts=32, word_vector=64))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_a_step_has_about_the_operations_that_torch_counts(made, name):
    entry = variant(CONFIG, DATASET, name)
    trainer = trainer_on(torch.device("cpu"), made, entry, job_of(entry))
    batch = trainer.task.batch(np.arange(BATCH), 1)
    with FlopCounterMode(display=False) as counted:
        trainer.step(batch, Moment(1, "main", trainer.task.parameters), 0.01)
    lengths = {view: {"grid": GRID[1], "concepts": 32}.get(view, LENGTH) for view in entry.views}
    vector = 64 if entry.word_vectors else None
    read = Read(lengths, REGIONS, GRID[0], 12, vector, len(KNOWN) + 402)
    cost = METHODS[entry.model](trainer.task.parameters, read)
    found = step(cost, BATCH, getattr(trainer.task.parameters, "mismatched", None))["products"]
    assert 1 / 1.5 < found / counted.get_total_flops() < 1.5

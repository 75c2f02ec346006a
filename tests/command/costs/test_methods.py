"""The arithmetic of a method's step agrees with what torch counts in that step."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from densevse.command.costs.methods import METHODS, Read, step_work
from densevse.config.load import variant
from densevse.methods.interface import Moment
from tests.device.papers import LONGEST, SHORTEST, VALIDATED, Sizes, write_inputs, write_word_vectors
from tests.device.test_methods import CONFIG, DATASET, job_of
from tests.device.trainers import trainer_on

BATCH, VECTOR = 24, 64
SIZES = Sizes(VALIDATED + 30, words=400, regions=5, cells=9, concepts=32, vector=256, cell=128)
# torch does not count products that are written into given memory, as those of the H-LSTM are.
VARIANTS = ("vse", "sco", "scan", "sm_lstm", "defrag", "deepvs", "dspe", "nic", "m_rnn")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder, SIZES)
    write_word_vectors(folder / "vectors.parquet", SIZES.known, VECTOR)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_a_step_has_about_the_operations_that_torch_counts(made, name):
    entry = variant(CONFIG, DATASET, name)
    trainer = trainer_on(torch.device("cpu"), made, entry, job_of(entry))
    batch = trainer.task.batch(np.arange(BATCH), 1)
    with FlopCounterMode(display=False) as counted:
        trainer.step(batch, Moment(1, "main", trainer.task.parameters), 0.01)
    lengths = {view: {"grid": SIZES.cell, "concepts": SIZES.concepts}.get(view, SIZES.vector) for view in entry.views}
    words = (SHORTEST + LONGEST) / 2 + 1
    read = Read(lengths, SIZES.regions, SIZES.cells, words, VECTOR if entry.word_vectors else None, SIZES.words + 2)
    cost = METHODS[entry.model](trainer.task.parameters, read)
    found = step_work(cost, BATCH, getattr(trainer.task.parameters, "mismatched", None))["products"]
    assert 1 / 1.6 < found / counted.get_total_flops() < 1.6

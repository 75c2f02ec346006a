"""The launches, pageable copies and waits of a training step with the structure that Flickr30k's sentences have.

Vectors are short, as no count depends on their length. On a card nothing is counted.
"""

import numpy as np
import pytest

from densevse.config.load import variant
from densevse.methods.interface import Moment
from densevse.methods.moving import Packed
from tests.device.chosen import DEVICE, REAL, begin, counting_waits, launches, pageable
from tests.device.papers import VALIDATED, Sizes, write_inputs, write_word_vectors
from tests.device.test_methods import CONFIG, job_of
from tests.device.trainers import trainer_on

CEILINGS = {
    "vse": (93, 0, 0),
    "hm_lstm": (285, 0, 0),
    "sm_lstm": (689, 0, 0),
    "defrag": (125, 1, 0),
    "sco": (187, 0, 0),
    "scan": (231, 0, 0),
}
"""The most launches, pageable copies and waits of a step."""


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    sizes = Sizes(images=VALIDATED + 40, cells=4, concepts=8, vector=8, cell=8)
    write_inputs(folder, sizes)
    write_word_vectors(folder / "vectors.parquet", sizes.known, 8)
    return folder


@pytest.fixture
def trainer_of(papers, compute_on):
    def make(name):
        compute_on(DEVICE)
        entry = variant(CONFIG, "flickr30k", name)
        job = job_of(entry)
        pairs = {key: value for key, value in entry.parameters.model_dump().items() if key == "mismatched"}
        return trainer_on(DEVICE, papers, entry, job.model_copy(update={"parameters": job.parameters | pairs}))

    return make


def counted(trainer, sentences):
    """The launches, by operator, the pageable copies and the waits of a step, when the optimiser has its state."""
    for _ in range(2):
        batch = Packed(trainer.task.batch(sentences, 1), pin=REAL).to(DEVICE)
        begin()
        with counting_waits() as waits:
            trainer.step(batch, Moment(1, "main", trainer.task.parameters), 0.01)
            waited = waits()
    return launches(), pageable(), waited


@pytest.mark.parametrize("name", CEILINGS)
def test_a_step_stays_below_its_ceilings(trainer_of, name):
    trainer = trainer_of(name)
    size = variant(CONFIG, "flickr30k", name).training.batch_size
    operators, copies, waits = counted(trainer, np.arange(size))
    assert operators.total() <= CEILINGS[name][0]
    assert copies <= CEILINGS[name][1]
    assert waits <= CEILINGS[name][2]


@pytest.mark.parametrize("name", CEILINGS)
def test_a_step_on_128_sentences_has_the_launches_of_16(trainer_of, name):
    trainer = trainer_of(name)
    few = np.arange(16)
    (of_16, *_), (of_128, *_) = (counted(trainer, np.tile(few, times)) for times in (1, 8))
    assert not of_128 - of_16, "operators that are launched more often"

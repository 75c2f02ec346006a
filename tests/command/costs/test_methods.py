"""What the parameters of each method count agrees with what torch and the kernels compute, in a step and a ranking."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from densevse.config.costs import InputSizes
from densevse.config.load import variant
from densevse.kernels import tanh_sums
from densevse.methods.interface import Correspondences, Moment
from tests.device.papers import LONGEST, SHORTEST, VALIDATED, Sizes, write_inputs, write_word_vectors
from tests.device.test_methods import CLOSED, CONFIG, DATASET, METHODS, job_of
from tests.device.trainers import trainer_on

BATCH, IMAGES, WORDS = 48, VALIDATED + 60, (SHORTEST + LONGEST) / 2 + 1
OTHERS = ["vse_bag_of_words", "sco_ctx", "scan_i2t_avg", "sm_lstm_mean", "sm_lstm_ctx", "sm_lstm_hardest"]
OTHERS += ["sm_lstm_printed", "defrag_full_frame", "hm_lstm_bilstm"]
"""Variants whose cost has other terms than that of their method."""


@dataclass(frozen=True)
class Made:
    """Data in a folder."""

    folder: Path
    sizes: Sizes
    vector: int  # values of a word vector
    share: int  # of a parameter's value, by which it is divided

    def job(self, entry):
        job, given = job_of(entry), entry.parameters.model_dump()
        large = {name: value for name, value in given.items() if type(value) is int and value >= 64}
        scaled = {
            name: max(8, value // self.share // 2 * 2) for name, value in large.items() if name != "pairs_at_once"
        }
        return job.model_copy(update={"parameters": given | scaled})

    def input_sizes(self, entry, phrases, assigned):
        lengths = {"grid": self.sizes.cell, "concepts": self.sizes.concepts}
        return InputSizes(
            features={view: lengths.get(view, self.sizes.vector) for view in entry.views},
            regions=self.sizes.regions if "regions" in entry.views else 1,
            cells=self.sizes.cells,
            words=WORDS,
            phrases=phrases,
            assigned=assigned,
            vector=self.vector if entry.word_vectors else None,
            known=self.sizes.words + 2,
        )


@pytest.fixture(
    scope="module",
    params=[
        (Sizes(IMAGES, words=400, regions=5, cells=9, concepts=32, vector=256, cell=128), 64, 16),
        (Sizes(IMAGES, words=2000, regions=20, cells=49, concepts=256, vector=1024, cell=512), 300, 4),
    ],
    ids=["small", "middle"],
)
def made(request, tmp_path_factory):
    sizes, vector, share = request.param
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder, sizes)
    write_word_vectors(folder / "vectors.parquet", sizes.known, vector)
    return Made(folder, sizes, vector, share)


@pytest.fixture
def count_work(monkeypatch):
    """A function that counts the work of a call.

    torch counts products, but none that are added in place. Numba's loops are counted by their shapes.
    """
    counted, run = Counter(), tanh_sums._run_in_threads

    def run_loop(loop, items, keys, queries, *others):
        counted["sums"] += len(queries) * keys.shape[1] * keys.shape[2]
        run(loop, items, keys, queries, *others)

    def added_in_place(_, left, right, **others):
        return 2 * left[0] * left[1] * right[1]

    def count(call):
        counted.clear()
        with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.addmm_: added_in_place}) as mode:
            call()
        return {"products": mode.get_total_flops(), "sums": counted["sums"]}

    monkeypatch.setattr(tanh_sums, "_run_in_threads", run_loop)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # products are small
    yield count
    torch.set_num_threads(threads)


def assert_near(expected, found):
    for kind in ("products", "sums"):
        assert found[kind] / 2 <= expected[kind] <= 2 * found[kind], kind


def noun_phrases(trees):
    """Each noun phrase of a batch with the whole image as its region."""
    node = np.flatnonzero(trees.noun_phrase & (trees.parent >= 0))
    sentence, node = map(torch.from_numpy, (np.searchsorted(trees.root, node), node))
    return Correspondences(sentence, node, torch.zeros_like(node), torch.ones(len(node)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*METHODS, *OTHERS])
def test_a_step_and_a_ranking_have_the_work_that_is_counted(made, count_work, name, monkeypatch):
    monkeypatch.setattr("densevse.config.costs.HINGED", 1)  # in a first step every pair has a hinge
    entry = variant(CONFIG, DATASET, name)
    trainer = trainer_on(torch.device("cpu"), made.folder, entry, made.job(entry))
    task, batch, phrases, assigned = trainer.task, trainer.task.batch(np.arange(BATCH), 1), 0, entry.last_round > 0
    if "trees" in entry.sentences:
        correspondences = noun_phrases(batch.sentences["trees"])
        phrases = len(correspondences.node) / BATCH
        batch = replace(batch, correspondences=correspondences if assigned else None)
    cost = task.parameters.cost(made.input_sizes(entry, phrases, assigned))
    if name not in CLOSED:
        moment = Moment(1, "main", task.parameters)
        assert_near(count_work(lambda: trainer.step(batch, moment, 0.01)), cost.step_work(BATCH))
    method = task.module.eval()
    with torch.inference_mode():
        encoded = lambda: (method.encode_images(batch.images), method.encode_sentences(batch.sentences))  # noqa: E731
        assert_near(count_work(lambda: method.score(*encoded())), cost.ranking_work(BATCH, BATCH))

"""Equal images and equal sentences tie, whatever kernels a processor has and however many threads compute."""

import os
import subprocess
import sys

import numpy as np
import pytest

from densevse.data.distinct import Distinct

PROGRAM = """
import sys
import numpy as np, torch
from densevse.data.inputs import Pairs
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures.words import WordsOfSentences
from densevse.data.views import View
from densevse.evaluation.protocols import Fold, TestSet
from densevse.evaluation.retrieval import retrieve

from densevse.methods.interface import Shapes
from densevse.methods.vse import VSE
from densevse.methods.parameters.vse import Parameters
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.scoring import scorer
from densevse.models.searching import EncodedRows, score_encodings, search

threads, count = map(int, sys.argv[1:])
torch.set_num_threads(threads)

class Table(View):
    def __init__(self, values): self.values = values
    read = None
    def take(self, images): return self.values[torch.from_numpy(images)]

Table.__abstractmethods__ = frozenset()
torch.manual_seed(0)
random = np.random.default_rng(0)
features, order = torch.randn(count, 48), random.permutation(2 * count)
item = order // 2  # each image and each sentence stands at two places
lists = [random.integers(2, 60, random.integers(1, 12)) for _ in range(count)]
words = RaggedNumbers.from_lists(2 * count, 1, ((place, lists[number]) for place, number in enumerate(item)))
ids = np.array([f"{n:05d}" for n in range(2 * count)], object)
every = np.arange(2 * count)
rows = TestSet(ids, ids, every, ids)
pairs = Pairs(rows, {"whole": Table(features[torch.from_numpy(item)])}, {"words": WordsOfSentences(words)})
method = VSE(Parameters(dimension=64), Shapes({"whole": 48}, 60))
images, sentences = encode_images(method, pairs), encode_sentences(method, pairs)
found = retrieve(scorer(method, images, sentences), rows, [Fold(every, every)])
assert found["tied"].all(), (~found["tied"]).sum()
place = np.argsort(item, kind="stable").reshape(-1, 2)
for _, of_direction in found.groupby("direction"):
    ranks = of_direction["rank"].to_numpy()[place]
    assert (ranks[:, 0] == ranks[:, 1]).all()
some = 600
asked = EncodedRows(sentences.vectors[:some])
answers = search(lambda *sides: score_encodings(method, *sides), EncodedRows(images.vectors), asked, "sentences", 4)
scores = answers.score.reshape(-1, 4)
assert (scores[:, ::2] == scores[:, 1::2]).all()
assert (np.ptp(item[answers.row.reshape(-1, 2)], axis=1) == 0).all()
"""


@pytest.mark.parametrize(
    ("kernels", "threads", "count"),
    [
        *((kernels, threads, 700) for kernels, threads in (("AVX2", 2), ("SSE4_2", 1), ("", 2))),
        pytest.param("AVX2", 1, 12_500, marks=pytest.mark.long),
        pytest.param("", 2, 12_500, marks=pytest.mark.long),
    ],
)
def test_what_stands_twice_ties(count, kernels, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    if kernels:
        environment["MKL_ENABLE_INSTRUCTIONS"] = kernels
    subprocess.run([sys.executable, "-c", PROGRAM, str(threads), str(count)], env=environment, check=True)


def test_equal_contents_are_one():
    contents = [{"a": np.ones(2), "b": (1, np.arange(3))}, {"b": (1, np.arange(3)), "a": np.ones(2)}, {"a": np.ones(2)}]
    found = Distinct.from_contents([*contents, contents[0], np.ones(2), np.ones(2, np.float32), np.ones((2, 1))])
    assert found.row.tolist() == [0, 0, 1, 0, 2, 3, 4]
    assert found.first.tolist() == [0, 2, 4, 5, 6]
    items, place = found.rows_of(np.array([2, 0]))
    assert (items.tolist(), place.tolist()) == ([4, 0, 1, 3], [0, 1, 1, 1])

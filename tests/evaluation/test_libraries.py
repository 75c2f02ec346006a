"""NumPy's and torch's ranks, ties and best candidates are the same to the digit."""

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.ranks import evaluate
from densevse.evaluation.retrieval import retrieve
from densevse.evaluation.vectors import order_scores, products
from densevse.kernels import order

COUNTS = np.array([3, 0, 5, 1, 7, 2, 5, 5, 0, 4, 5, 5, 1, 5])
OWNER = np.repeat(np.arange(len(COUNTS)), COUNTS)
SHAPE = len(COUNTS), len(OWNER)
NAMES = [np.array([f"{kind}{n}" for n in range(count)], object) for kind, count in zip("is", SHAPE, strict=True)]
TEST_SET = TestSet(*NAMES, OWNER, NAMES[0])


def scores_of(kind):
    """Scores with few ties, many, nothing else, both zeros, and infinities."""
    random = np.random.default_rng(0)
    return {
        "different": random.normal(size=SHAPE),
        "few levels": random.integers(-3, 3, SHAPE) * 0.5,
        "equal": np.zeros(SHAPE),
        "zeros": random.choice([0.0, -0.0, 1.0], SHAPE),
        "infinite": random.choice([-np.inf, -1.0, 0.0, 2.0, np.inf], SHAPE),
    }[kind]


def scorer(scores):
    """A scorer that looks the scores of all images with all sentences up, an array or a tensor."""

    def of_rows(images, sentences):
        part = scores[images][:, sentences]
        return lambda i, j: part[i, j]

    return of_rows


KINDS = ["different", "few levels", "equal", "zeros", "infinite"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("block", "top"), [(1, 3), (4, 10), (500, 50)])
def test_retrievals_are_equal(kind, dtype, block, top):
    scores, chosen = scores_of(kind).astype(dtype), folds(TEST_SET, "full")
    ours, theirs = (retrieve(scorer(some), TEST_SET, chosen, block, top) for some in (scores, torch.from_numpy(scores)))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_equal(kind):
    scores = scores_of(kind).astype(np.float32)
    ours, theirs = (evaluate(lambda i, j, s=s: s[i, j], OWNER, len(COUNTS), 3) for s in (scores, torch.tensor(scores)))
    assert (ours.i2t.tolist(), ours.t2i.tolist()) == (theirs.i2t.tolist(), theirs.t2i.tolist())


def test_bfloat16_is_ranked_as_float32():
    scores, chosen = torch.tensor(scores_of("different")).bfloat16(), folds(TEST_SET, "full")
    found = retrieve(scorer(scores), TEST_SET, chosen)
    pd.testing.assert_frame_equal(found, retrieve(scorer(scores.float().numpy()), TEST_SET, chosen), check_exact=True)


def vectors(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_scores_of_order_embeddings_are_those_of_training():
    images, sentences = vectors(7, 24), vectors(9, 24)
    expected = order.order_scores(torch.from_numpy(images), torch.from_numpy(sentences)).numpy()
    np.testing.assert_allclose(order_scores(images, sentences), expected, rtol=1e-5)


@pytest.mark.parametrize("compare", [products, order_scores])
@pytest.mark.parametrize("dimension", [3, 48, 300])
def test_identical_vectors_have_identical_scores_at_any_place(compare, dimension):
    images, sentences = vectors(700, dimension), vectors(600, dimension)
    same = [0, 3, 255, 256, 511, 512, 513, 698, 699]
    images[same] = images[0]
    found = compare(images, sentences)[same]
    assert (found == found[0]).all()

import gc

import numpy as np
import pytest
import torch
from torchmetrics.retrieval import RetrievalHitRate

from densevse.evaluation.ranks import Ranks, evaluate, metrics
from snakeproof.errors import InputError

RAGGED = torch.tensor([0, 0, 2, 2, 2, 2, 2, 2, 2, 3, 5, 5])  # images 1 and 4 have no sentence, image 2 has seven


def ranks_of(scores, image_of_sentence, block=500):
    return evaluate(lambda i, j: scores[i, j], image_of_sentence, len(scores), block)


def by_definition(scores, image_of_sentence):
    """1 + the wrong candidates at least as good as the best true one, a query at a time."""
    true = image_of_sentence[None, :] == torch.arange(len(scores))[:, None]
    i2t = [
        1 + int((row[~is_true] >= row[is_true].max()).sum())
        for row, is_true in zip(scores, true, strict=True)
        if is_true.any()
    ]
    t2i = [
        1 + int((column[~is_true] >= column[is_true].max()).sum())
        for column, is_true in zip(scores.T, true.T, strict=True)
    ]
    return i2t, t2i


def assert_same(ranks, expected):
    assert (ranks.i2t.tolist(), ranks.t2i.tolist()) == expected


@pytest.mark.parametrize("block", [1, 2, 4, 5, 6, 100])
@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_equals_the_definition_for_any_block(block, levels):
    scores = torch.randint(levels, (6, 12), generator=torch.Generator().manual_seed(levels)).float()
    assert_same(ranks_of(scores, RAGGED, block), by_definition(scores, RAGGED))


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_definition_on_ragged_sets(seed):
    generator = torch.Generator().manual_seed(seed)
    images = int(torch.randint(1, 30, (1,), generator=generator))
    counts = torch.randint(0, 8, (images,), generator=generator)
    counts[0] += 1
    image_of_sentence = torch.repeat_interleave(torch.arange(images), counts)
    scores = torch.randint(6, (images, len(image_of_sentence)), generator=generator).float()
    assert_same(ranks_of(scores, image_of_sentence, 7), by_definition(scores, image_of_sentence))


def test_all_ties_are_all_misses():
    ranks = ranks_of(torch.zeros(6, 12), RAGGED, block=2)
    assert ranks.i2t.tolist() == [11, 6, 12, 11]
    assert ranks.t2i.tolist() == [6] * 12


def test_one_image_with_one_sentence():
    assert_same(ranks_of(torch.tensor([[-3.0]]), torch.tensor([0])), ([1], [1]))


def test_one_image_with_five_sentences():
    assert_same(ranks_of(torch.randn(1, 5), torch.zeros(5, dtype=torch.long)), ([1], [1] * 5))


def test_infinite_scores_are_scores():
    scores = torch.tensor([[float("inf"), float("-inf")], [0.0, float("inf")]])
    assert_same(ranks_of(scores, torch.tensor([0, 1]), block=1), ([1, 1], [1, 1]))


@pytest.mark.parametrize("place", [(0, 0), (5, 11), (2, 9)])
def test_not_a_number_raises_and_is_named(place):
    scores = torch.randn(6, 12)
    scores[place] = float("nan")
    with pytest.raises(InputError, match=f"image {place[0]} with sentence {place[1]} "):
        ranks_of(scores, RAGGED, block=2)


def test_tiles_leave_nothing_behind():
    alive = []

    def score_block(images, sentences):
        alive.append(sum(type(one) is torch.Tensor for one in gc.get_objects()))
        return torch.zeros(1, sentences.stop - sentences.start)

    evaluate(score_block, torch.arange(4), images=4, block=1)
    assert len(set(alive[2:])) == 1  # a tensor kept of each tile would split the heap


def test_low_precision_is_compared_as_fp32():
    scores = torch.randn(6, 12).bfloat16()
    assert_same(ranks_of(scores, RAGGED), by_definition(scores.float(), RAGGED))


def test_sentences_out_of_order_raise():
    with pytest.raises(ValueError, match="sort sentences by image"):
        ranks_of(torch.randn(2, 2), torch.tensor([1, 0]))
    with pytest.raises(ValueError, match="sort sentences by image"):
        ranks_of(torch.randn(2, 2), torch.tensor([0, 2]))
    with pytest.raises(ValueError, match="no sentence"):
        ranks_of(torch.randn(2, 0), torch.tensor([], dtype=torch.long))


def test_a_tile_of_the_wrong_shape_raises():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        evaluate(lambda i, j: torch.zeros(2, 3), torch.tensor([0, 1]), 2)


def test_agrees_with_torchmetrics():
    generator = torch.Generator().manual_seed(1)
    image_of_sentence = torch.repeat_interleave(torch.arange(40), 5)
    scores = torch.randn(40, 200, generator=generator)
    target = image_of_sentence[None] == torch.arange(40)[:, None]
    ours = metrics(ranks_of(scores, image_of_sentence, 16))
    rows = torch.arange(40)[:, None].expand(40, 200)
    columns = torch.arange(200)[None].expand(40, 200)
    for k in (1, 5, 10):
        for direction, queries in (("i2t", rows), ("t2i", columns)):
            metric = RetrievalHitRate(top_k=k)
            metric.update(scores.flatten(), target.flatten(), indexes=queries.flatten())
            assert ours[f"{direction}_r{k}"] == pytest.approx(100 * metric.compute().item(), abs=1e-4)


def test_random_scores_give_the_papers_random_row():
    image_of_sentence = torch.repeat_interleave(torch.arange(1000), 5)
    runs = []
    for seed in range(5):
        scores = torch.rand(1000, 5000, generator=torch.Generator().manual_seed(seed))
        runs.append(metrics(ranks_of(scores, image_of_sentence)))
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    assert mean["i2t_r1"] == pytest.approx(0.1, abs=0.1)
    assert mean["i2t_r5"] == pytest.approx(0.5, abs=0.2)
    assert mean["i2t_r10"] == pytest.approx(1.0, abs=0.3)
    assert mean["i2t_median_rank"] == pytest.approx(640, abs=40)
    assert mean["t2i_r1"] == pytest.approx(0.1, abs=0.05)
    assert mean["t2i_r10"] == pytest.approx(1.0, abs=0.15)
    assert mean["t2i_median_rank"] == pytest.approx(500, abs=15)


def test_metrics():
    ranks = Ranks(np.array([1, 5, 11, 2]), np.array([1, 6, 10, 100, 3]))
    found = metrics(ranks)
    assert [found[f"i2t_r{k}"] for k in (1, 5, 10)] == [25, 75, 75]
    assert [found[f"t2i_r{k}"] for k in (1, 5, 10)] == [20, 40, 80]
    assert (found["i2t_median_rank"], found["i2t_mean_rank"]) == (3.5, 4.75)
    assert (found["t2i_median_rank"], found["t2i_mean_rank"]) == (6, 24)
    assert found["rsum"] == 315
    assert found["mean_recall"] == 52.5


def test_metrics_without_a_query_raise():
    with pytest.raises(ValueError, match="i2t"):
        metrics(Ranks(np.array([], int), np.array([1])))

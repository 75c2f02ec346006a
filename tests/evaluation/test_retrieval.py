import hashlib

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.bootstrap import expected_metrics
from densevse.evaluation.protocols import folds, select_split, subsample_test_set
from densevse.evaluation.ranks import evaluate, metrics
from densevse.evaluation.recall import metrics_of, recall_metrics
from densevse.evaluation.retrieval import retrieve
from snakeproof import schema
from snakeproof.errors import InputError


def data_set(counts, unreadable=(), split="test"):
    """Images i0, i1, ... with this number of captions each; captions in reversed order."""
    images = pd.DataFrame({"image_id": [f"i{n}" for n in range(len(counts))], "split": split, "status": "ok"})
    images["family"] = images["image_id"]
    images.loc[list(unreadable), "status"] = "truncated"
    captions = [(f"i{n}#{k}", f"i{n}", k) for n, count in enumerate(counts) for k in range(count)]
    return images, pd.DataFrame(captions[::-1], columns=["caption_id", "image_id", "position"])


def scorer_of(scores):
    """A scorer that looks the scores of all images with all captions up."""

    def scorer(images, captions):
        part = scores[torch.from_numpy(images)][:, torch.from_numpy(captions)]
        return lambda i, j: part[i, j]

    return scorer


def test_split_is_in_image_order_and_leaves_out_the_unreadable():
    images, captions = data_set([2, 1, 0, 3], unreadable=[1])
    found = select_split(images, captions)
    assert found.image_ids.tolist() == ["i0", "i2", "i3"]
    assert found.caption_ids.tolist() == ["i0#0", "i0#1", "i3#0", "i3#1", "i3#2"]
    assert found.image_of_caption.tolist() == [0, 0, 2, 2, 2]


def test_images_without_a_sentence_are_not_among_the_few_that_are_kept():
    few = subsample_test_set(select_split(*data_set([0, 2, 1, 0])), 2)
    assert few.image_ids.tolist() == ["i1", "i2"]
    assert few.caption_ids.tolist() == ["i1#0", "i1#1", "i2#0"]
    assert few.image_of_caption.tolist() == [0, 0, 1]


def test_split_without_sentences_raises():
    with pytest.raises(InputError, match=r"The val split .*; name images for it in the data set's `options`"):
        select_split(*data_set([2]), split="val")


def test_protocols():
    test_set = select_split(*data_set([2] * 10 + [0]))
    assert [(len(f.images), len(f.captions)) for f in folds(test_set, "full")] == [(11, 20)]
    five = folds(test_set, "five_folds")
    assert np.concatenate([f.images for f in five]).tolist() == list(range(11))
    assert np.concatenate([f.captions for f in five]).tolist() == list(range(20))
    assert all(set(test_set.image_of_caption[f.captions]) <= set(f.images) for f in five)
    hodosh = folds(test_set, "hodosh")[0]
    assert test_set.caption_ids[hodosh.captions].tolist() == [f"i{n}#0" for n in range(10)]
    many = select_split(*data_set([5] * 5000))
    assert [(len(f.images), len(f.captions)) for f in folds(many, "five_folds")] == [(1000, 5000)] * 5
    assert [(len(f.images), len(f.captions)) for f in folds(many, "first_1000")] == [(1000, 5000)]


@pytest.mark.parametrize("counts", [[2, 2, 2, 2], [2, 2, 2, 2, 0]])
def test_a_fold_without_a_sentence_is_refused(counts):
    test_set = select_split(*data_set(counts))
    needed = rf"five_folds needs at least 5 readable images, .*; the split has {len(counts)}: i0, i1, i2, i3"
    with pytest.raises(InputError, match=needed):
        folds(test_set, "five_folds")


def test_1000_images_at_random_are_the_same_on_every_machine():
    test_set = select_split(*data_set([2] * 3000))
    (drawn,) = folds(test_set, "random_1000")
    assert (len(drawn.images), len(drawn.captions)) == (1000, 2000)
    assert drawn.images[:4].tolist() == sorted(drawn.images.tolist())[:4]
    assert set(test_set.image_of_caption[drawn.captions]) == set(drawn.images)
    smallest = min(test_set.image_ids, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    assert smallest in test_set.image_ids[drawn.images]
    assert 1300 < drawn.images.mean() < 1700  # spread over the table, not its beginning
    few = select_split(*data_set([1] * 7))
    assert folds(few, "random_1000")[0].images.tolist() == list(range(7))


@pytest.mark.parametrize("protocol", ["full", "five_folds", "hodosh"])
@pytest.mark.parametrize("block", [3, 500])
@pytest.mark.parametrize("top", [10, 30])
def test_rows_against_sorting(protocol, block, top, tmp_path):
    test_set = select_split(*data_set([3, 0, 5, 1, 7, 2, 5, 5, 4, 5, 5, 5]))
    scores = torch.randint(-4, 5, (12, 47), generator=torch.Generator().manual_seed(0)).float()
    chosen = folds(test_set, protocol)
    found = retrieve(scorer_of(scores), test_set, chosen, block, top)
    schema.write(found, RETRIEVAL, tmp_path / "r.parquet")
    found = schema.read(tmp_path / "r.parquet", RETRIEVAL)
    for number, fold in enumerate(chosen):
        part = found[found["fold"] == number]
        for row in part.itertuples():
            image_asks = row.direction == "i2t"
            candidates = fold.captions if image_asks else fold.images
            names = test_set.caption_ids if image_asks else test_set.image_ids
            owners = test_set.image_ids if image_asks else test_set.caption_ids
            asking = owners.tolist().index(row.query_id)
            line = scores[asking, candidates] if image_asks else scores[candidates, asking]
            order = sorted(range(len(candidates)), key=lambda n: (-line[n], n))[:top]
            assert row.top.tolist() == [names[candidates[n]] for n in order]
            assert row.top_scores.tolist() == [line[n] for n in order]
            asked = row.query_id.split("#")[0]
            assert row.top_true.tolist() == [name.split("#")[0] == asked for name in row.top]
            true = np.array([names[n].split("#")[0] == asked for n in candidates])
            assert row.rank == 1 + (line.numpy()[~true] >= line.numpy()[true].max()).sum()
            assert row.candidates == len(candidates)
        queries = len(np.unique(test_set.image_of_caption[fold.captions])) + len(fold.captions)
        assert len(part) == queries


def test_infinities_and_both_zeros_are_in_order():
    test_set = select_split(*data_set([1] * 8))
    values = torch.tensor([-torch.inf, -1.5, -1e-40, -0.0, 0.0, 1e-40, 1.5, torch.inf])
    found = retrieve(scorer_of(values.expand(8, 8)), test_set, folds(test_set, "full"), block=3, top=8)
    i2t, t2i = (found[found["direction"] == direction] for direction in ("i2t", "t2i"))
    assert [row.tolist() for row in i2t["top"]] == [[f"i{n}#0" for n in (7, 6, 5, 3, 4, 2, 1, 0)]] * 8
    assert [row.tolist() for row in t2i["top"]] == [[f"i{n}" for n in range(8)]] * 8  # all are equal
    scores = np.stack(i2t["top_scores"].to_list())
    assert (scores == values[[7, 6, 5, 3, 4, 2, 1, 0]].numpy()).all()


def test_metrics_come_back_from_the_artifact():
    test_set = select_split(*data_set([5] * 40))
    scores = torch.randn(40, 200, generator=torch.Generator().manual_seed(3))
    found = retrieve(scorer_of(scores), test_set, folds(test_set, "full"))
    image_of_sentence = torch.from_numpy(test_set.image_of_caption)
    assert metrics_of(found) == pytest.approx(metrics(evaluate(lambda i, j: scores[i, j], image_of_sentence, 40)))


def test_metrics_of_folds_are_averaged_not_pooled():
    """Folds of 1 and 3 images: the mean of the folds' metrics, as vsepp and SCAN print it wrongly."""
    rows = [(0, "i2t", 1), (0, "t2i", 1), *[(1, "i2t", 20)] * 3, *[(1, "t2i", 20)] * 3]
    found = metrics_of(pd.DataFrame(rows, columns=["fold", "direction", "rank"]))
    assert found["i2t_r1"] == 50
    assert found["i2t_median_rank"] == 10.5
    assert found["rsum"] == 300


def test_zero_and_minus_zero_tie_in_candidate_order():
    test_set = select_split(*data_set([1, 1, 1]))
    scores = torch.tensor([[-0.0, 0.0, -0.0], [0.0, -0.0, 0.0], [-1.0, -2.0, float("-inf")]])
    found = retrieve(scorer_of(scores), test_set, folds(test_set, "full"))
    tops = found[found["direction"] == "i2t"]["top"]
    assert [list(top) for top in tops] == [["i0#0", "i1#0", "i2#0"]] * 3


def test_chance_is_what_random_scores_give():
    counts = [5] * 60 + [1] * 20 + [0] * 5 + [7] * 15
    test_set = select_split(*data_set(counts))
    chosen = folds(test_set, "full")
    expected = expected_metrics(test_set, chosen)
    image_of_sentence = torch.from_numpy(test_set.image_of_caption)
    generator = torch.Generator().manual_seed(0)
    runs = []
    for _ in range(300):
        scores = torch.rand(len(counts), len(image_of_sentence), generator=generator)
        runs.append(metrics(evaluate(lambda i, j, s=scores: s[i, j], image_of_sentence, len(counts))))
    mean = pd.DataFrame(runs).mean()
    for key, value in expected.items():
        assert mean[key] == pytest.approx(value, rel=0.06), key


def test_chance_is_the_papers_random_row():
    test_set = select_split(*data_set([5] * 1000))
    row = expected_metrics(test_set, folds(test_set, "full"))
    recalls = [round(row[f"{d}_r{k}"], 1) for d in ("i2t", "t2i") for k in (1, 5, 10)]
    assert recalls == [0.1, 0.5, 1.0, 0.1, 0.5, 1.0]
    assert row["i2t_median_rank"] == pytest.approx(640, abs=15)
    assert row["t2i_median_rank"] == pytest.approx(500, abs=1)


def test_chance_with_fewer_candidates_than_ten():
    test_set = select_split(*data_set([2, 1]))
    row = expected_metrics(test_set, folds(test_set, "full"))
    assert row["i2t_r10"] == 100
    assert row["i2t_r1"] == pytest.approx(50)
    assert row == pytest.approx({**row, "t2i_r1": 50, "t2i_mean_rank": 1.5, "i2t_mean_rank": 5 / 3})


def test_recalls_count_ranks_up_to_k():
    assert recall_metrics(np.array([1, 2]), np.array([10, 11]))["t2i_r10"] == 50

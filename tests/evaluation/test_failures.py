"""What saw or learned nothing is said: scores by chance, or nearly all equal; what learned is not named."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

import densevse
from densevse.command.main import main
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.recall import NEARLY_EQUAL, NO_BETTER, failures, query_failures
from densevse.evaluation.retrieval import retrieve
from densevse.training import retrieval as training

IMAGES = 60
COUNTS = {"one": [1] * IMAGES, "five": [5] * IMAGES, "uneven": [*range(1, 13)] * (IMAGES // 12)}


def made(counts, similar, seed=0):
    """Scores (images, sentences) that are random, and higher for a right pair by `similar`; the test set."""
    image = np.repeat(np.arange(len(counts)), counts)
    scores = np.random.default_rng(seed).normal(size=(len(counts), len(image))).astype(np.float32)
    scores[image, np.arange(len(image))] += similar
    names = np.array([f"i{n}" for n in range(len(counts))], object)
    return scores, TestSet(names, np.array([f"c{n}" for n in range(len(image))], object), image, names)


def retrieved(scores, test_set, protocol="full"):
    return retrieve(
        lambda images, captions: lambda i, c: scores[np.ix_(images[i], captions[c])],
        test_set,
        folds(test_set, protocol),
    )


@pytest.mark.parametrize("right", [1, 2, 5, 20])
def test_the_rank_relative_to_chance_has_the_mean_one_for_any_number_of_right_answers(right):
    """The first of m right ones among w wrong ones in random order has w / (m + 1) of these before it."""
    wrong, random = 40, np.random.default_rng(right)
    orders = random.random((20_000, right + wrong)).argsort(axis=1) < right
    relative = orders.argmax(axis=1) * (right + 1) / wrong
    assert relative.mean() == pytest.approx(1, abs=4 * relative.std() / np.sqrt(len(relative)))


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("protocol", ["full", "five_folds"])
def test_random_scores_are_no_better_than_chance_and_learned_ones_are(counts, protocol):
    named = [
        failures(retrieved(*made(COUNTS[counts], 0, seed), protocol), made(COUNTS[counts], 0)[1]) for seed in range(9)
    ]
    assert named.count([NO_BETTER]) >= 8, "each interval leaves out 1 in one of twenty"
    scores, test_set = made(COUNTS[counts], 2)
    assert failures(retrieved(scores, test_set, protocol), test_set) == []


def test_of_a_hundred_random_rankings_about_ninety_five_are_named():
    named = 0
    for seed in range(200):
        rank = np.random.default_rng(seed).integers(1, 101, 300)
        named += NO_BETTER in query_failures(rank, 100, 1, np.arange(300))
    assert 0.95 < named / 200 <= 1, "the half of the others is beyond chance, so that 97.5% are expected"


def test_queries_of_an_image_are_drawn_together():
    """Five equal sentences of each image are one observation."""
    rank = np.random.default_rng(0).integers(1, 101, 24)
    rank = rank - int(rank.mean() - 42)  # a mean that 24 observations do not tell from chance, and 120 do
    assert query_failures(rank, 100, 1, np.arange(24)) == {NO_BETTER}
    assert query_failures(rank.repeat(5), 100, 1, np.arange(120)) == set()
    assert query_failures(rank.repeat(5), 100, 1, np.arange(24).repeat(5)) == {NO_BETTER}


def collapsed(kind):
    scores, test_set = made(COUNTS["five"], 0)
    if kind == "images":  # each sentence has one score with all images
        scores = np.tile(scores[:1], (IMAGES, 1))
    elif kind == "sentences":
        scores = np.tile(scores[:, :1], (1, scores.shape[1]))
    else:
        scores[:] = 0
    return scores, test_set


@pytest.mark.parametrize("kind", ["images", "sentences", "all"])
def test_a_collapse_of_images_of_sentences_or_of_all_is_said(kind):
    assert NEARLY_EQUAL in failures(retrieved(*collapsed(kind)), collapsed(kind)[1])


def test_a_few_equal_sentences_are_not_named():
    scores, test_set = made(COUNTS["five"], 3)
    scores[:, 1::2] = scores[:, ::2]
    assert NEARLY_EQUAL not in failures(retrieved(scores, test_set), test_set)


@pytest.mark.parametrize("right", [{"image_of_sentence": np.repeat(np.arange(IMAGES), 5)}, {}])
def test_evaluate_says_it(caplog, right):
    matrix = sparse.csr_array(np.repeat(np.eye(IMAGES), 5, axis=1))
    for scores, said in ((made(COUNTS["five"], 0)[0], NO_BETTER), (collapsed("all")[0], NEARLY_EQUAL)):
        caplog.clear()
        densevse.evaluate(scores, **(right or {"relevant": matrix}))
        assert [record.getMessage() for record in caplog.records][-1].removeprefix("The result is ") == said
    caplog.clear()
    densevse.evaluate(made(COUNTS["five"], 2)[0], **(right or {"relevant": matrix}))
    assert caplog.text == ""


@pytest.mark.parametrize(("kind", "said"), [("learned", ""), ("random", NO_BETTER), ("all", NEARLY_EQUAL)])
def test_a_training_says_it_of_val_once(monkeypatch, caplog, kind, said):
    scores, test_set = collapsed("all") if kind == "all" else made(COUNTS["uneven"], 2 if kind == "learned" else 0)
    for name in ("encode_images", "encode_sentences"):
        monkeypatch.setattr(training, name, lambda *_: None)
    block = torch.from_numpy(scores)
    monkeypatch.setattr(training, "scorer", lambda *_: lambda images, sentences: lambda i, s: block[i, s])
    with caplog.at_level(logging.WARNING):
        said_before: set[str] = set()
        for _ in range(2):
            found = training.recalls_and_rsum(None, SimpleNamespace(rows=test_set), said_before)
    assert found["rsum"] == pytest.approx(densevse.evaluate(scores, test_set.image_of_caption)["rsum"])
    messages = [record.getMessage() for record in caplog.records if record.getMessage().startswith("on val")]
    assert messages == ([f"on val: {said} It is said once."] if said else [])


@pytest.mark.parametrize(
    ("images", "protocol", "heads", "counts"),
    [
        (1014, "full", "1,014 images and 2,028 sentences, protocol full", (1014, 2028, 1)),
        (1014, "five_folds", "1,014 images and 2,028 sentences, protocol five_folds", (1014, 2028, 5)),
        (1014, "first_1000", "1,000 images and 2,000 sentences, protocol first_1000", (1000, 2000, 1)),
        (41, "first_1000", "41 images and 82 sentences, protocol first_1000", (41, 82, 1)),
        (41, "hodosh", "41 images and 41 sentences, protocol hodosh", (41, 41, 1)),
    ],
)
def test_what_was_ranked_is_said(tmp_path, monkeypatch, capsys, caplog, images, protocol, heads, counts):
    monkeypatch.chdir(tmp_path)
    np.save("s.npy", made([2] * images, 2)[0])
    assert (
        main(["evaluate", "s.npy", "--per-image", "2", "--protocol", protocol, "--json", "m.json", "--csv", "m.csv"])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[0] == heads
    found = json.loads(Path("m.json").read_text())["metrics"]
    assert (found["images"], found["sentences"], found["folds"]) == counts
    assert (found["text_retrieval_queries"], found["image_retrieval_queries"]) == counts[:2]
    assert pd.read_csv("m.csv", index_col="metric")["value"]["i2t_queries"] == counts[0]
    fewer = "the protocol names 1,000 images, and the split has 41: all are ranked"
    assert (fewer in caplog.text) == (images == 41 and protocol == "first_1000")

"""The page that a newcomer reads first, run on the miniature as the README says."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.evaluation.protocols import full, select_split
from densevse.evaluation.recall import metrics_of
from densevse.evaluation.retrieval import retrieve
from densevse.statistics import rankings
from examples import compare, minimal_vse
from examples.minimal_vse import MinimalVSE, Split, hinges, ranked, recalls, train
from snakeproof import schema
from tests.miniature import KNOWN, SIZE

SCRIPT = Path(__file__).parents[2] / "examples/minimal_vse.py"
NUMBERS = {word: number for number, word in enumerate(KNOWN, 2)}


@pytest.fixture
def results(folder):
    """The miniature in the folder of the workflow's results."""
    for file, place in (
        ("words.parquet", "vocabulary/words.parquet"),
        ("whole.parquet", "features/net/whole/00-of-01.parquet"),
    ):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).rename(folder / place)
    return folder


@pytest.fixture
def val(results):
    return Split(results, "net", "val", NUMBERS)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MinimalVSE(SIZE, 2 + len(KNOWN))


@pytest.mark.long
def test_it_runs_as_a_script_and_a_seed_is_trained_once(results, monkeypatch, capsys):
    asked = [str(SCRIPT), str(results), "net", "--loss", "hardest", "--seeds", "0", "1"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *asked], cwd=results, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.splitlines()
    assert len(printed) == 2 * minimal_vse.EPOCHS + 1
    monkeypatch.setattr(sys, "argv", asked)
    minimal_vse.main()
    assert capsys.readouterr().out.splitlines() == printed[-1:]
    files = sorted(map(str, (results / "plain/net/hardest").glob("*.parquet")))
    assert [Path(file).name for file in files] == ["seed0.parquet", "seed1.parquet"]
    monkeypatch.setattr(rankings, "FEWEST_GROUPS", 1)  # the miniature has three test images
    same = compare.gain(str(results), files, files)
    assert (same.low, same.high) == (0, 0)


def test_what_one_gains_on_the_other_is_the_sum_of_its_recalls_more(results, model, monkeypatch):
    monkeypatch.setattr(rankings, "FEWEST_GROUPS", 1)
    ranks = ranked(model, Split(results, "net", "test", NUMBERS))
    ranks.assign(rank=1).to_parquet(results / "best.parquet")
    ranks.assign(rank=100).to_parquet(results / "worst.parquet")
    found = compare.gain(str(results), [str(results / "best.parquet")], [str(results / "worst.parquet")])
    assert (found.low, found.high) == (600, 600)


def test_a_split_is_that_of_the_project(results, val):
    rows = select_split(
        schema.read(results / "images.parquet", IMAGES), schema.read(results / "captions.parquet", CAPTIONS), "val"
    )
    assert [ids.tolist() for ids in val.ids] == [rows.image_ids.tolist(), rows.caption_ids.tolist()]
    assert val.image.tolist() == rows.image_of_caption.tolist()
    tokens = pd.read_parquet(results / "tokens.parquet").set_index("caption_id")["tokens"]
    words = [[KNOWN[number - 2] for number in row if number] for row in val.words.tolist()]
    assert words == [list(tokens[caption]) for caption in rows.caption_ids]


def test_ranks_and_recalls_are_those_of_the_project(results, val, model):
    with torch.no_grad():
        model.image.weight[:] = 0  # all images alike: many ties
        model.image.weight[0, 0] = 1
    rows = select_split(
        schema.read(results / "images.parquet", IMAGES), schema.read(results / "captions.parquet", CAPTIONS), "val"
    )
    ranks = ranked(model, val)
    with torch.no_grad():
        scores = model.images(val.vectors) @ model.sentences(val.words).T
    expected = retrieve(lambda i, j: lambda a, b: scores[a, b], rows, full(rows))
    pd.testing.assert_frame_equal(ranks.reset_index(drop=True), expected[ranks.columns], check_dtype=False)
    metrics, found = metrics_of(expected), recalls(ranks)
    assert found == pytest.approx({name: metrics[name] for name in found})


def test_hinges_are_those_of_the_equation_and_other_sentences_of_an_image_cost_nothing():
    scores = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    image = torch.tensor([0, 1, 0, 2])
    found = hinges(scores, image[:, None] == image)
    for matrix, of_pair in zip(found, (lambda i, k: scores[i, k], lambda i, k: scores[k, i]), strict=True):
        for i, k in np.ndindex(4, 4):
            lacking = 0 if image[i] == image[k] else max(0, 0.2 - scores[i, i] + of_pair(i, k))
            assert matrix[i, k] == pytest.approx(float(lacking), abs=1e-6)


@pytest.mark.parametrize("loss", ["sum", "hardest"])
def test_training_learns_the_pairs(results, model, monkeypatch, loss):
    monkeypatch.setattr(minimal_vse, "EPOCHS", 20)
    seen = Split(results, "net", "train", NUMBERS)
    before = recalls(ranked(model, seen))["rsum"]
    train(model, seen, seen, loss)
    assert recalls(ranked(model, seen))["rsum"] > before + 50

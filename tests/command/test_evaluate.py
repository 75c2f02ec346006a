"""`densevse evaluate`: the same metrics as `densevse.evaluate`, printed."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest

import densevse
from densevse.command.main import main

SCORES = np.random.default_rng(0).normal(size=(20, 100)).astype(np.float32)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files in the working directory: scores, and vectors with five copies of each image."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    images, sentences = (random.normal(size=(count, 8)).astype(np.float32) for count in (20, 100))
    np.save("sims.npy", SCORES)
    np.save("turned.npy", SCORES.T)
    np.save("empty.npy", SCORES[:0])
    with zipfile.ZipFile("text.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    rows = pd.DataFrame({"scores": list(SCORES)})
    rows.assign(image_id=[str(number) for number in range(20)]).to_parquet("ids.parquet")
    pd.DataFrame({"scores": [None, *SCORES[1:]]}).to_parquet("null.parquet")
    np.savez("vectors.npz", images=np.repeat(images, 5, axis=0), sentences=sentences)
    return images @ sentences.T


def numbers(text):
    """The printed numbers of each line."""
    return [[float(number) for number in re.findall(r"(?<= )[\d.]+", line)] for line in text.splitlines()[1:]]


def expected(scores, protocol="full"):
    found = densevse.evaluate(scores, np.arange(100) // 5, protocol)
    keys = ("r1", "r5", "r10", "median_rank", "mean_rank", "ties")
    rows = [[found[f"{direction}_{key}"] for key in keys] for direction in ("i2t", "t2i")]
    return [pytest.approx(row, abs=0.051) for row in [*rows, [found["rsum"]]]]


@pytest.mark.parametrize("protocol", ["full", "five_folds", "hodosh"])
def test_scores(files, capsys, protocol):
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--protocol", protocol]) == 0
    assert numbers(capsys.readouterr().out) == expected(SCORES, protocol)


def test_a_matrix_for_each_direction(files, capsys):
    assert main(["evaluate", "--i2t", "sims.npy", "--t2i", "turned.npy", "--per-image", "5"]) == 0
    assert numbers(capsys.readouterr().out) == expected(SCORES)


def test_vectors_with_copies(files, capsys):
    vectors = ["--images", "vectors.npz", "--sentences", "vectors.npz", "--similarity", "dot", "--copies", "5"]
    assert main(["evaluate", *vectors, "--per-image", "5"]) == 0
    assert numbers(capsys.readouterr().out) == expected(files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["turned.npy"], "turned.npy: expected 4 x 20, as the test split has, found 100 x 20"),
        (["empty.npy"], "empty.npy: there are no numbers"),
        (["text.npz"], "text.npz: expected one array, or one called 'scores', found []"),
        (["ids.parquet"], "ids.parquet: its rows have ids, which mean nothing without a data set"),
        (["null.parquet"], "null.parquet, scores: row 0 is empty; complete it"),
        (["sims.npy", "--i2t", "sims.npy"], "found scores and i2t; give scores, or i2t and t2i"),
        (["--images", "vectors.npz", "--sentences", "vectors.npz"], "similarity: it is required for vectors"),
        (["nothing.npy"], "nothing.npy: no such file"),
    ],
)
def test_what_does_not_fit_is_refused(files, capsys, arguments, message):
    assert main(["evaluate", *arguments, "--per-image", "5"]) == 1
    assert message in capsys.readouterr().err


def test_sentences_that_are_no_multiple_are_refused(files, capsys):
    assert main(["evaluate", "sims.npy", "--per-image", "3"]) == 1
    assert "sims.npy: 100 sentences are not 3 for each of some images" in capsys.readouterr().err
    assert main(["evaluate", "sims.npy", "--per-image", "0"]) == 1
    assert "--per-image: an image has 1 sentence or more, not 0" in capsys.readouterr().err

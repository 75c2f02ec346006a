"""`densevse evaluate`: the same metrics as `densevse.evaluate`, printed."""

import json
import re
import zipfile
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import densevse
from densevse.command.main import main
from densevse.command.subcommands.evaluate import SIMILARITIES
from densevse.config.given import Similarity

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
    return [[float(number) for number in re.findall(r"(?<= )[\d.]+", line)] for line in text.splitlines()[2:]]


def expected(scores, protocol="full"):
    found = densevse.evaluate(scores, np.arange(100) // 5, protocol)
    keys = ("r1", "r5", "r10", "median_rank", "mean_rank", "ties", "queries")
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


def test_numbered_qrels_need_the_kind_of_their_queries(files, capsys):
    Path("qrels.txt").write_text("".join(f"{n} 0 {n // 5} 1\n" for n in range(100)))
    assert main(["evaluate", "sims.npy", "--relevant", "qrels.txt"]) == 1
    assert "say by --queries images, or --queries sentences, which ask" in capsys.readouterr().err
    assert main(["evaluate", "sims.npy", "--relevant", "qrels.txt", "--queries", "sentences", "--json", "m.json"]) == 0
    found = json.loads(Path("m.json").read_text())["metrics"]
    expected = densevse.evaluate(SCORES, np.arange(100) // 5, at=[1])
    assert 100 * found["image_retrieval_recall@1"] == pytest.approx(expected["t2i_r1"])
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--queries", "images"]) == 1
    assert "--queries: only with --relevant" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["turned.npy"], "turned.npy: 100 x 20 is transposed; write its transpose (images, sentences)."),
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
    said = "sims.npy: 100 sentences are not 3 for each of 20 images. Where an image has more, keep its first 3, as"
    assert said in capsys.readouterr().err
    assert main(["evaluate", "sims.npy", "--per-image", "10"]) == 1
    assert "100 sentences are not 10 for each of 20 images" not in capsys.readouterr().err  # perhaps copies
    assert main(["evaluate", "sims.npy", "--per-image", "4"]) == 1
    assert "sims.npy: 100 sentences are not 4 for each of 20 images" in capsys.readouterr().err
    assert main(["evaluate", "sims.npy", "--per-image", "0"]) == 1
    assert "--per-image: an image has 1 sentence or more, not 0" in capsys.readouterr().err


def test_pairs_without_a_score_may_be_marked_by_minus_infinity(files, capsys):
    np.save("partly.npy", np.where(SCORES < -2, -np.inf, SCORES))
    for mark in (["--unscored", "-inf"], ["--unscored=-inf"]):
        assert main(["evaluate", "partly.npy", "--per-image", "5", *mark]) == 0


def test_distances_in_the_place_of_scores_are_said(files, caplog):
    right = np.eye(20, dtype=np.float32).repeat(5, axis=1) + SCORES / 100
    for scores, below in ((right, False), (1 - right, True), (np.zeros((20, 100)), True), (SCORES, False)):
        caplog.clear()
        np.save("scores.npy", scores)
        assert main(["evaluate", "scores.npy", "--per-image", "5"]) == 0
        assert ("The result is far below chance" in caplog.text) == below


IDS = {"image": [f"i{n}" for n in range(20)], "caption": [f"c{n}" for n in range(100)]}


@pytest.fixture
def relevance(files):
    """Files of gains, and of the ids of images and captions in another order."""
    random = np.random.default_rng(2)
    gains = random.integers(1, 4, (20, 100)) * (random.random((20, 100)) < 0.1)
    pairs = [(IDS["image"][i], IDS["caption"][s], gains[i, s]) for i, s in zip(*np.nonzero(gains), strict=True)]
    pd.DataFrame(pairs, columns=["image_id", "caption_id", "relevance"]).to_parquet("pairs.parquet")
    order = random.permutation(100)
    np.save("mixed.npy", SCORES[::-1, order])
    Path("images.txt").write_text("\n".join(IDS["image"][::-1]))
    Path("captions.txt").write_text("\n".join(IDS["caption"][n] for n in order))
    return gains


KEYS = ("r2", "ndcg_at_2", "r10", "ndcg_at_10", "mrr", "map_at_r", "rprecision", "queries")


def test_relevant_answers_by_ids(relevance, capsys):
    ids = ["--image-ids", "images.txt", "--caption-ids", "captions.txt"]
    assert main(["evaluate", "mixed.npy", "--relevant", "pairs.parquet", *ids, "--at", "2,10"]) == 0
    found = densevse.evaluate(SCORES, relevant=relevance, at=(2, 10))
    rows = [[found[f"{way}_{key}"] for key in KEYS] for way in ("i2t", "t2i")]
    assert numbers(capsys.readouterr().out) == [pytest.approx(row, abs=0.051) for row in rows]


def test_ids_that_do_not_fit_are_named_by_their_file(relevance, capsys):
    for text, said in (("i0\n" * 20, "images.txt: these image_ids stand there twice: 'i0'"), ("", "there is no id")):
        Path("images.txt").write_text(text)
        assert main(["evaluate", "sims.npy", "--relevant", "pairs.parquet", "--image-ids", "images.txt"]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--copies", "0"], ["--at", "0"]])
def test_numbers_below_one_are_refused(files, capsys, option):
    assert main(["evaluate", "sims.npy", "--per-image", "5", *option]) == 1
    assert option[0].strip("-") in capsys.readouterr().err


def test_cutoffs_that_are_no_numbers_are_refused(files, capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "sims.npy", "--per-image", "5", "--at", "1,x"])
    assert "--at: expected whole numbers with commas between them, such as 1,5,10, not '1,x'" in capsys.readouterr().err


def test_unknown_intervals_are_null_in_json(files):
    np.save("few.npy", SCORES[:4, :20])
    assert main(["evaluate", "few.npy", "--per-image", "5", "--intervals", "--json", "few.json"]) == 0
    assert "NaN" not in Path("few.json").read_text()
    assert json.loads(Path("few.json").read_text())["intervals"]["i2t_r1"] == [None, None]


def test_intervals_stand_below_their_metrics(relevance, capsys):
    sparse.save_npz("gains.npz", sparse.csr_array(relevance))
    assert main(["evaluate", "sims.npy", "--relevant", "gains.npz", "--at", "2,10", "--intervals"]) == 0
    found = densevse.evaluate(SCORES, relevant=relevance, at=(2, 10), intervals=True)
    ends = [
        [found[f"{way}_{key}{end}"] for key in KEYS[:-1]] for way in ("i2t", "t2i") for end in ("", "_low", "_high")
    ]
    assert [row[:7] for row in numbers(capsys.readouterr().out)] == [pytest.approx(row, abs=0.051) for row in ends]


def test_results_are_files_that_others_read(relevance, capsys):
    """CLIP_benchmark's `build` joins `metrics` with the other keys; mteb validates a task's result so."""
    written = ["--json", "mine.json", "--csv", "mine.csv", "--intervals"]
    assert main(["evaluate", "sims.npy", "--per-image", "5", *written]) == 0
    found = densevse.evaluate(SCORES, np.arange(100) // 5, intervals=True)
    read = json.loads(Path("mine.json").read_text())
    assert read["model"] + read["pretrained"] == "sims.npy"
    assert read["metrics"]["image_retrieval_recall@5"] == found["t2i_r5"] / 100
    assert read["metrics"]["text_retrieval_recall@5"] == found["i2t_r5"] / 100
    assert read["metrics"]["rsum"] == found["rsum"]
    for subset, way in zip(read["scores"]["test"], ("i2t", "t2i"), strict=True):
        assert (subset["hf_subset"], subset["languages"]) == (way, [])
        assert subset["main_score"] == subset["hit_rate_at_1"] == found[f"{way}_r1"] / 100
    assert read["intervals"]["i2t_r1"] == [found["i2t_r1_low"] / 100, found["i2t_r1_high"] / 100]
    rows = pd.read_csv("mine.csv", float_precision="round_trip").set_index("metric")
    assert rows.loc["t2i_mean_rank", ["value", "low"]].tolist() == [found["t2i_mean_rank"], found["t2i_mean_rank_low"]]
    assert rows.loc[["i2t_ties"], "low"].isna().all()
    assert "to" in capsys.readouterr().out.splitlines()[-1]


def test_results_of_relevant_answers_have_the_names_of_others(relevance):
    sparse.save_npz("gains.npz", sparse.csr_array(relevance))
    assert main(["evaluate", "sims.npy", "--relevant", "gains.npz", "--json", "mine.json"]) == 0
    found, read = densevse.evaluate(SCORES, relevant=relevance), json.loads(Path("mine.json").read_text())
    assert read["scores"]["test"][1]["main_score"] == found["t2i_ndcg_at_10"] / 100
    assert read["metrics"]["text_retrieval_ndcg@10"] == found["i2t_ndcg_at_10"] / 100
    assert read["metrics"]["text_retrieval_map_at_r"] == found["i2t_map_at_r"] / 100
    assert read["metrics"]["image_retrieval_queries"] == found["t2i_queries"]


def test_vectors_and_two_matrices_with_relevant_answers(relevance, files, capsys):
    sparse.save_npz("gains.npz", sparse.csr_array(relevance))
    vectors = ["--images", "vectors.npz", "--sentences", "vectors.npz", "--similarity", "dot", "--copies", "5"]
    assert main(["evaluate", *vectors, "--relevant", "gains.npz"]) == 0
    of_vectors = numbers(capsys.readouterr().out)
    assert of_vectors[0][0] == pytest.approx(densevse.evaluate(files, relevant=relevance)["i2t_r1"], abs=0.051)
    assert main(["evaluate", "--i2t", "sims.npy", "--t2i", "turned.npy", "--relevant", "gains.npz"]) == 0
    two = capsys.readouterr().out
    assert main(["evaluate", "sims.npy", "--relevant", "gains.npz"]) == 0
    assert capsys.readouterr().out == two


def test_ids_without_relevant_answers_are_refused(relevance, capsys):
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--image-ids", "images.txt"]) == 1
    assert "its rows have ids, which mean nothing without a data set or --relevant" in capsys.readouterr().err


def test_every_similarity_of_the_configuration_is_one_of_the_command():
    assert get_args(Similarity) == SIMILARITIES

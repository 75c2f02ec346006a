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


@pytest.mark.parametrize(
    ("option", "images"), [(["--per-image", "4", "--copies", "5"], 25), (["--per-image", "5"], 20)]
)
def test_vectors_of_another_number_of_images_are_refused(files, capsys, option, images):
    vectors = ["--images", "vectors.npz", "--sentences", "vectors.npz", "--similarity", "dot"]
    assert main(["evaluate", *vectors, *option]) == 1
    copies = 5 if "--copies" in option else 1
    said = f"found 100 vectors, but by --per-image and --copies the sentences are of {images} images, each {copies}"
    assert said in capsys.readouterr().err


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


def test_intervals_have_the_names_of_both_readers_and_a_new_folder_is_said(files, capsys):
    given = ["--per-image", "5", "--intervals", "--json", "new/m.json", "--csv", "new/m.csv"]
    assert main(["evaluate", "sims.npy", *given]) == 0
    found = json.loads(Path("new/m.json").read_text())
    for ours, theirs in (("i2t_r1", "text_retrieval_recall@1"), ("t2i_r10", "image_retrieval_recall@10")):
        assert found["intervals"][ours] == found["intervals"][theirs]
        low, high = found["intervals"][theirs]
        assert low <= found["metrics"][theirs] <= high
    assert "new: this folder was not there, and is made." in capsys.readouterr().err.splitlines()
    assert main(["evaluate", "sims.npy", *given]) == 0
    assert "new: " not in capsys.readouterr().err
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--run", "runs/mine.run"]) == 0
    assert "runs: this folder was not there, and is made." in capsys.readouterr().err.splitlines()


def test_small_folds_are_said(files, capsys):
    for protocol, said in (("five_folds", True), ("full", False)):
        assert main(["evaluate", "sims.npy", "--per-image", "5", "--protocol", protocol]) == 0
        remark = "5 folds of about 4 images: papers have 1,000, and fewer are easier."
        assert (remark in capsys.readouterr().err.splitlines()) == said


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
        assert (subset["hf_subset"], subset["languages"]) == (way, ["eng-Latn"])
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
    assert "--image-ids: ids name answers in the file of --relevant alone" in capsys.readouterr().err


def test_every_similarity_of_the_configuration_is_one_of_the_command():
    assert get_args(Similarity) == SIMILARITIES


def test_mteb_has_a_score_of_the_json(relevance, capsys):
    task_result = pytest.importorskip("mteb.results.task_result").TaskResult
    sparse.save_npz("gains.npz", sparse.csr_array(relevance))
    written = ["evaluate", "sims.npy", "--relevant", "gains.npz", "--json", "mine.json"]
    assert main(written) == 0
    assert "mine.json: its sentences are in eng-Latn; --language names another" in capsys.readouterr().err
    found = densevse.evaluate(SCORES, relevant=relevance)
    both = [found[f"{way}_ndcg_at_10"] / 100 for way in ("i2t", "t2i")]
    assert task_result.from_disk(Path("mine.json")).get_score() == pytest.approx(np.mean(both))
    assert main([*written, "--language", "deu-Latn"]) == 0
    assert "language" not in capsys.readouterr().err
    read = task_result.from_disk(Path("mine.json"))
    assert (read.languages, read.get_score(languages=["deu"])) == (["deu"], pytest.approx(np.mean(both)))
    assert main([*written, "--language", "German"]) == 1
    assert "--language: expected a code as mteb has them, such as eng-Latn" in capsys.readouterr().err


def test_a_language_without_json_is_refused(files, capsys):
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--language", "deu-Latn"]) == 1
    assert "--language: only with --json" in capsys.readouterr().err


def test_ir_measures_reads_the_runs(relevance, capsys):
    ir = pytest.importorskip("ir_measures")
    ids = ["--image-ids", "images.txt", "--caption-ids", "captions.txt"]
    assert main(["evaluate", "mixed.npy", "--relevant", "pairs.parquet", *ids, "--at", "10", "--run", "mine.run"]) == 0
    found = densevse.evaluate(SCORES, relevant=relevance, at=[10])
    pairs = pd.read_parquet("pairs.parquet").set_axis(["image", "caption", "relevance"], axis=1)
    for way, (query, answer) in {"i2t": ("image", "caption"), "t2i": ("caption", "image")}.items():
        named = pairs.rename(columns={query: "query_id", answer: "doc_id"})
        run = ir.read_trec_run(f"mine.{way}.run")
        theirs = ir.calc_aggregate([ir.nDCG @ 10, ir.RR, ir.Rprec, ir.Success @ 10], named, run)
        ours = {ir.nDCG @ 10: "ndcg_at_10", ir.RR: "mrr", ir.Rprec: "rprecision", ir.Success @ 10: "r10"}
        assert {metric: found[f"{way}_{name}"] / 100 for metric, name in ours.items()} == pytest.approx(theirs)


def test_a_run_has_the_best_first_and_no_pair_without_a_score(files, capsys):
    np.save("partly.npy", np.where(SCORES < 0, -np.inf, SCORES))
    assert main(["evaluate", "partly.npy", "--per-image", "5", "--unscored", "-inf", "--run", "out.txt"]) == 0
    lines = [line.split() for line in Path("out.i2t.txt").read_text().splitlines()]
    assert len(lines) == (SCORES >= 0).sum()
    first = [(candidate, float(score)) for query, _, candidate, _, score, _ in lines if query == "3"]
    assert first[0] == (str(SCORES[3].argmax()), SCORES[3].max())
    assert [score for _, score in first] == sorted((score for _, score in first), reverse=True)


def test_runs_that_cannot_be_written_are_refused(files, capsys):
    run = ["--per-image", "5", "--run", "mine.run"]
    assert main(["evaluate", "sims.npy", *run, "--protocol", "hodosh"]) == 1
    assert "--run: a run has all candidates, as the protocol full, not hodosh" in capsys.readouterr().err
    assert main(["evaluate", "--model", "open_clip:ViT-B-32", "--data", "mine.yaml", "--run", "mine.run"]) == 1
    assert "--model: its scores are computed here; leave out --run" in capsys.readouterr().err
    Path("images.txt").write_text("".join(f"image {number}\n" for number in range(20)))
    sparse.save_npz("gains.npz", sparse.csr_array(np.eye(20, 100)))
    named = ["--relevant", "gains.npz", "--image-ids", "images.txt"]
    assert main(["evaluate", "sims.npy", *named, "--run", "mine.run"]) == 1
    assert "--run: the id 'image 0' is not one word" in capsys.readouterr().err


@pytest.fixture
def choices(tmp_path, monkeypatch):
    """Questions about 15 images, their scores, and vectors of the images and of sentences as bags of words."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    rows = pd.DataFrame({"question": [f"q{n}" for n in range(60)], "image": [f"i{n // 4}" for n in range(60)]})
    rows["right"], rows["category"] = [f"word{n} and more" for n in range(60)], ["order", "swap"] * 30
    rows["wrong"] = [[f"more and word{n}", f"and word{n}"][: 1 + n % 2] for n in range(60)]
    rows.to_parquet("choices.parquet")
    words = random.normal(size=(60, 3, 8)).astype(np.float32)
    orders = [word[[0, 1, 2]].sum(axis=0) for word in words], [word[[2, 1, 0]].sum(axis=0) for word in words]
    sentences = [row for n in range(60) for row in ([orders[0][n], orders[1][n], orders[1][n]][: 2 + n % 2])]
    np.save("sentences.npy", np.stack(sentences))
    np.save("images.npy", random.normal(size=(15, 8)).astype(np.float32))
    values = random.normal(size=(60, 3)).astype(np.float32)
    values[::2, 2] = np.nan
    np.save("scores.npy", values)
    return values


def printed(text):
    return {line.split()[0]: [float(number) for number in line.split()[1:]] for line in text.splitlines()[1:4]}


def test_choices_by_scores(choices, capsys):
    right = np.nanargmax(choices, axis=1) == 0
    assert main(["evaluate", "scores.npy", "--choices", "choices.parquet"]) == 0
    found = printed(capsys.readouterr().out)
    assert found["all"] == [60, 41.7, pytest.approx(100 * right.mean(), abs=0.051), 0]
    assert found["order"] == [30, 50, pytest.approx(100 * right[::2].mean(), abs=0.051), 0]
    np.save("blind.npy", choices[::-1].take(np.r_[1:60, 0], axis=0))
    blind = ["--blind", "blind.npy", "--intervals", "--csv", "mine.csv"]
    assert main(["evaluate", "scores.npy", "--choices", "choices.parquet", *blind]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["questions", "chance", "choice", "blind", "difference", "ties", "blind", "ties"]
    assert " ".join(line.split()[0] for line in lines[1:10]) == "all low high order low high swap low high"
    rows = pd.read_csv("mine.csv").set_index("metric")
    assert rows.loc["order_choice", "value"] == pytest.approx(100 * right[::2].mean())
    assert rows.loc["difference", "low"] < rows.loc["difference", "value"] < rows.loc["difference", "high"]


@pytest.mark.parametrize("similarity", ["cosine", "dot", "order"])
def test_a_bag_of_words_has_chance_by_its_vectors(choices, capsys, similarity):
    vectors = ["--images", "images.npy", "--sentences", "sentences.npy", "--similarity", similarity]
    assert main(["evaluate", *vectors, "--choices", "choices.parquet"]) == 0
    found = printed(capsys.readouterr().out)
    assert found["all"] == [60, 41.7, 41.7, 41.7, 0, 60, 60]
    assert found["swap"] == [30, 33.3, 33.3, 33.3, 0, 30, 30]


@pytest.mark.parametrize("similarity", ["max_sum", "max_sum_of_query"])
def test_a_bag_of_words_has_chance_by_a_vector_of_each_word(choices, capsys, similarity):
    random = np.random.default_rng(6)
    words = random.normal(size=(60, 3, 8)).astype(np.float32)
    sentences = [words[n][order] for n in range(60) for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2])[: 2 + n % 2]]
    images = random.normal(size=(15, 4, 8)).astype(np.float32)
    images[::2, 3] = 0  # padding
    np.save("words.npy", np.stack(sentences))
    np.save("regions.npy", images)
    vectors = ["--images", "regions.npy", "--sentences", "words.npy", "--similarity", similarity]
    assert main(["evaluate", *vectors, "--choices", "choices.parquet"]) == 0
    assert printed(capsys.readouterr().out)["all"] == [60, 41.7, 41.7, 41.7, 0, 60, 60]
    others = random.normal(size=(len(sentences), 3, 8)).astype(np.float32)
    np.save("words.npy", others)
    assert main(["evaluate", *vectors, "--choices", "choices.parquet"]) == 0
    right, start = [], 0
    for n in range(60):
        products = images[n // 4][images[n // 4].any(axis=1)] @ others[start : start + 2 + n % 2].swapaxes(1, 2)
        best = products.max(axis=1).sum(axis=1) if similarity == "max_sum" else products.max(axis=2).sum(axis=1)
        right.append(best.argmax() == 0)
        start += 2 + n % 2
    assert printed(capsys.readouterr().out)["all"][2] == pytest.approx(100 * np.mean(right), abs=0.051)


def test_vectors_of_images_may_have_ids(choices, capsys):
    random = np.random.default_rng(5)
    images, sentences = np.load("images.npy"), random.normal(size=np.load("sentences.npy").shape).astype(np.float32)
    np.save("sentences.npy", sentences)
    vectors = ["--images", "images.npy", "--sentences", "sentences.npy", "--similarity", "cosine"]
    assert main(["evaluate", *vectors, "--choices", "choices.parquet"]) == 0
    expected = capsys.readouterr().out
    unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (images, sentences)]
    starts = np.cumsum([0, *(2 + n % 2 for n in range(59))])
    right = [(unit[1][s : s + 2 + n % 2] @ unit[0][n // 4]).argmax() == 0 for n, s in enumerate(starts)]
    assert printed(expected)["all"][2] == pytest.approx(100 * np.mean(right), abs=0.051)
    order = random.permutation(15)
    np.save("images.npy", images[order])
    Path("ids.txt").write_text("".join(f"i{n}\n" for n in order))
    assert main(["evaluate", *vectors, "--choices", "choices.parquet", "--image-ids", "ids.txt"]) == 0
    assert capsys.readouterr().out == expected
    Path("ids.txt").write_text("".join(f"j{n}\n" for n in order))
    assert main(["evaluate", *vectors, "--choices", "choices.parquet", "--image-ids", "ids.txt"]) == 1
    assert "no vector is of the image 'i0'" in capsys.readouterr().err


def test_mteb_has_a_score_of_choices(choices):
    task_result = pytest.importorskip("mteb.results.task_result").TaskResult
    assert main(["evaluate", "scores.npy", "--choices", "choices.parquet", "--json", "mine.json"]) == 0
    right = np.nanargmax(choices, axis=1) == 0
    assert task_result.from_disk(Path("mine.json")).get_score() == pytest.approx(right.mean())
    read = json.loads(Path("mine.json").read_text())
    assert read["metrics"]["swap_choice"] == pytest.approx(right[1::2].mean())
    assert read["scores"]["test"][0]["text_acc"] == read["metrics"]["choice"] == pytest.approx(right.mean())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.npy", "--protocol", "hodosh"], "--choices: nothing is ranked; leave out --protocol"),
        (["scores.npy", "--at", "1", "--copies", "5"], "--choices: nothing is ranked; leave out --copies, --at"),
        (["behind.npy"], "behind.npy: row 0, column 2 is behind the 2 sentences of its question; write NaN there"),
        (["absent.npy"], "absent.npy: row 1, column 1 is no finite number; correct it"),
        (["short.npy"], "short.npy: expected 60 x 3, a row for each question"),
        (["scores.npy", "--image-ids", "ids.txt"], "--image-ids: scores have a row for each question"),
        (["ids.parquet"], "ids.parquet, scores: its rows have ids, and are in the order of the questions here"),
        (["--images", "i", "--sentences", "s", "--similarity", "dot", "--blind", "b"], "--blind: with vectors"),
        (
            ["--images", "sentences.npy", "--sentences", "sentences.npy", "--similarity", "dot"],
            "the vectors of 15 images",
        ),
        (
            ["--images", "images.npy", "--sentences", "images.npy", "--similarity", "dot"],
            "the vectors of 150 sentences",
        ),
    ],
)
def test_choices_that_do_not_fit_are_refused(choices, capsys, arguments, message):
    np.save("behind.npy", np.nan_to_num(choices))
    absent = choices.copy()
    absent[1, 1] = np.nan
    np.save("absent.npy", absent)
    np.save("short.npy", choices[:, :2])
    rows = pd.DataFrame({"scores": list(np.nan_to_num(choices)), "image_id": [f"i{n}" for n in range(60)]})
    rows.to_parquet("ids.parquet")
    assert main(["evaluate", *arguments, "--choices", "choices.parquet"]) == 1
    assert message in capsys.readouterr().err


def test_blind_scores_need_choices(files, capsys):
    assert main(["evaluate", "sims.npy", "--per-image", "5", "--blind", "sims.npy"]) == 1
    assert "--blind: only with --choices" in capsys.readouterr().err


def test_the_page_s_commands_for_choices_work(tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2].joinpath("docs/evaluate.md").read_text()
    monkeypatch.chdir(tmp_path)
    (program,) = (one for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "questions.parquet" in one)
    exec(program)
    commands = re.findall(r"^    densevse (evaluate .*--choices .*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert main(command.split()) == 0
        assert "difference" in capsys.readouterr().out.splitlines()[0]

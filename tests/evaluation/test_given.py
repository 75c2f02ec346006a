"""Given scores and vectors: their files, their order, and their rows."""

import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import save_file

from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.matrices import open_matrix
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.given import SEVERAL, GivenLayout
from densevse.evaluation.given.retrieval import read_test, scorers, write_given_retrieval
from densevse.evaluation.recall import metrics_of
from densevse.evaluation.retrieval import retrieve, retrieve_by_direction
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.evaluation.vsepp_and_scan import i2t_of_scan, i2t_of_vsepp, t2i_of_scan, t2i_of_vsepp

PLAIN = GivenLayout()
COSINE = GivenLayout(similarity="cosine")


def write_tables(folder, counts, unreadable=()):
    """A test split with this number of sentences for each image, after a training image."""
    ids = ["train0", *(f"i{n}" for n in range(len(counts)))]
    images = pd.DataFrame({"image_id": ids, "split": ["train", *["test"] * len(counts)], "captions": [1, *counts]})
    images = images.assign(source="images", file=ids, width=8, height=8, sha256="", family=ids, status="ok")
    images.loc[images["image_id"].isin(unreadable), "status"] = "truncated"
    schema.write(images, IMAGES, folder / "images.parquet")
    captions = images.loc[images.index.repeat(images["captions"]), ["image_id", "split"]].reset_index(drop=True)
    captions["position"] = captions.groupby("image_id").cumcount()
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    schema.write(captions.assign(text="a"), CAPTIONS, folder / "captions.parquet")
    return read_test(folder / "images.parquet", folder / "captions.parquet", "full")


def floats(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.fixture
def test(tmp_path):
    """Eight images with five sentences each."""
    return write_tables(tmp_path, [5] * 8)


@pytest.fixture
def given(tmp_path, test):
    """A function that ranks given data: arrays by their keys, saved as npy, or paths."""

    def rank(layout=PLAIN, of=test, **files):
        paths = {}
        for key, value in files.items():
            paths[key] = value
            if isinstance(value, np.ndarray):
                paths[key] = str(tmp_path / f"{key}.npy")
                np.save(paths[key], value)
        return retrieve_by_direction(*scorers(paths, layout, of, tmp_path), of.rows, of.folds)

    return rank


def of_array(scores):
    """A scorer that looks the scores of all images with all sentences up."""

    def scorer(images, captions):
        part = torch.from_numpy(scores)[torch.from_numpy(images)][:, torch.from_numpy(captions)]
        return lambda i, j: part[i, j]

    return scorer


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected)


def test_scores_give_the_rankings_of_a_model_with_these_scores(given, test):
    scores = floats(8, 40)
    same(given(scores=scores), retrieve(of_array(scores), test.rows, test.folds))


def npz(path, **arrays):
    np.savez(path, **arrays)


def compressed(path, **arrays):
    np.savez_compressed(path, **arrays)


def safetensors(path, **arrays):
    save_file(arrays, path)


def parquet(path, **arrays):
    (array,) = arrays.values()
    pd.DataFrame({"scores": list(array)}).to_parquet(path)


def fixed_parquet(path, **arrays):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (array,) = arrays.values()
    lists = pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[1])
    pq.write_table(pa.table({"anything": lists}), path)


@pytest.mark.parametrize(
    ("write", "suffix"),
    [(npz, "npz"), (compressed, "npz"), (safetensors, "safetensors"), (parquet, "parquet"), (fixed_parquet, "parquet")],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_format_holds_the_same_matrix(tmp_path, given, write, suffix, dtype):
    scores = floats(8, 40, dtype=dtype)
    path = tmp_path / f"mine.{suffix}"
    write(path, scores=scores)
    found = open_matrix(path, "scores", tmp_path)
    assert found.values.dtype == dtype
    assert np.array_equal(found.values, scores)
    same(given(scores=str(path)), given(scores=scores))


def test_of_several_arrays_the_one_called_like_the_key_is_taken(tmp_path, given):
    scores = floats(8, 40)
    for write, suffix in ((npz, "npz"), (safetensors, "safetensors")):
        path = str(tmp_path / f"mine.{suffix}")
        write(path, scores=scores, other=scores + 1)
        same(given(scores=path), given(scores=scores))
        write(path, one=scores, other=scores)
        with pytest.raises(InputError, match=r"one called 'scores', found \['one', 'other'\]"):
            given(scores=path)


def test_columns_first_and_other_bytes_order_are_read(given):
    scores = floats(8, 40)
    for other in (np.asfortranarray(scores), scores.astype(">f4")):
        same(given(scores=other), given(scores=scores))


def test_ids_say_the_order_and_may_stand_in_a_parquet_file(tmp_path, given, test):
    scores, random = floats(8, 40), np.random.default_rng(1)
    rows, columns = random.permutation(8), random.permutation(40)
    shuffled = scores[rows][:, columns]
    names, captions = test.rows.image_ids[rows], test.rows.caption_ids[columns]
    (tmp_path / "images.txt").write_text("\n".join(names) + "\n")
    np.save(tmp_path / "captions.npy", captions.astype(str))
    ids = {"image_ids": str(tmp_path / "images.txt"), "caption_ids": str(tmp_path / "captions.npy")}
    same(given(scores=shuffled, **ids), given(scores=scores))
    frame = pd.DataFrame({"image_id": names, "row": list(shuffled)})
    frame.to_parquet(tmp_path / "named.parquet")
    same(given(scores=str(tmp_path / "named.parquet"), caption_ids=ids["caption_ids"]), given(scores=scores))
    with pytest.raises(
        InputError, match=r"images.txt: the ids stand in .*named.parquet.* as well; leave image_ids out"
    ):
        given(scores=str(tmp_path / "named.parquet"), **ids)


def test_a_protocol_needs_the_ids_that_it_ranks(tmp_path, given):
    write_tables(tmp_path, [5] * 8)
    hodosh = read_test(tmp_path / "images.parquet", tmp_path / "captions.parquet", "hodosh")
    (tmp_path / "first.txt").write_text("".join(f"i{n}#0\n" for n in range(8)))
    scores = floats(8, 40)
    first = given(of=hodosh, scores=scores[:, ::5].copy(), caption_ids=str(tmp_path / "first.txt"))
    same(first, given(of=hodosh, scores=scores))
    assert set(first["candidates"]) == {8}


def test_images_that_cannot_be_read_stand_in_the_file_and_are_not_ranked(tmp_path, given):
    test = write_tables(tmp_path, [2, 1, 3], unreadable=["i1"])
    scores = floats(3, 6)
    kept = retrieve(of_array(scores[[0, 2]][:, [0, 1, 3, 4, 5]]), test.rows, test.folds)
    same(given(of=test, scores=scores), kept)


def test_the_first_five_sentences_of_each_image(tmp_path, given):
    """As MS-COCO's are counted; a matrix of all sentences is read by their ids."""
    write_tables(tmp_path, [5, 7, 4, 6])
    tables = tmp_path / "images.parquet", tmp_path / "captions.parquet"
    every, first = read_test(*tables, "full"), read_test(*tables, "full", "first_five")
    assert [len(test.rows.caption_ids) for test in (every, first)] == [22, 19]
    scores = floats(4, 22)
    kept = [place for place, name in enumerate(every.rows.caption_ids) if int(name.split("#")[1]) < 5]
    expected = retrieve(of_array(scores[:, kept]), first.rows, first.folds)
    same(given(of=first, scores=scores[:, kept].copy()), expected)
    (tmp_path / "all.txt").write_text("\n".join(every.rows.caption_ids))
    same(given(of=first, scores=scores, caption_ids=str(tmp_path / "all.txt")), expected)
    said = r"expected 4 x 19, as the test split has, found 4 x 22.* has 22 sentences, of which the first five of each"
    with pytest.raises(InputError, match=said):
        given(of=first, scores=scores)
    with pytest.raises(InputError, match=r"expected 19 x 3, .* has 22 sentences, of which the first five of each"):
        given(COSINE, of=first, images=floats(4, 3), sentences=floats(22, 3))


def test_copies_of_images_are_taken_once(given):
    scores, images, sentences = floats(8, 40), floats(8, 4), floats(40, 4, seed=1)
    nearly = np.repeat(images, 5, axis=0) * (1 + 1e-6 * floats(40, 4))
    copies = GivenLayout(copies=5)
    same(given(copies, scores=np.repeat(scores, 5, axis=0)), given(scores=scores))
    nearly[::5] = images
    same(given(GivenLayout(similarity="cosine", copies=5), images=nearly, sentences=sentences),
         given(COSINE, images=images, sentences=sentences))  # fmt: skip
    with pytest.raises(InputError, match=r"image 1 should be a copy of image 0, counted from 0, and is not"):
        given(copies, scores=np.tile(scores, (5, 1)))


def test_a_direction_may_have_a_matrix_of_its_own(given):
    one, other = floats(8, 40), floats(8, 40, seed=1)
    rows = given(i2t=one, t2i=np.ascontiguousarray(other.T))
    for name, scores in (("i2t", one), ("t2i", other)):
        of_name, expected = (frame[frame["direction"] == name] for frame in (rows, given(scores=scores)))
        same(of_name, expected)


def test_pairs_without_a_score_stand_behind_all_others(given, test):
    scores = floats(8, 40)
    best = np.argsort(-scores, axis=1)[:, :12]
    for mark, value in (("nan", np.nan), ("-inf", -np.inf)):
        partly = np.full_like(scores, value)
        np.put_along_axis(partly, best, np.take_along_axis(scores, best, axis=1), axis=1)
        rows = given(GivenLayout(unscored=mark), scores=partly)
        asked, all_scored = (frame[frame["direction"] == "i2t"] for frame in (rows, given(scores=scores)))
        near = (all_scored["rank"] <= 10).to_numpy()
        assert near.any()
        assert (asked["rank"] == all_scored["rank"])[near].all()
        assert (asked["rank"] >= all_scored["rank"]).all()
        unscored = np.isinf(np.where(np.isnan(partly), -np.inf, partly))[np.repeat(np.arange(8), 5), np.arange(40)]
        assert (rows.loc[rows["direction"] == "t2i", "rank"][unscored] == 8).all()
    with pytest.raises(InputError, match=r"scores.npy: row 0, column \d+ is -inf, which cannot be ranked"):
        given(GivenLayout(unscored="nan"), scores=partly)


def test_similarities(given, test):
    images, sentences = floats(8, 3), floats(40, 3, seed=1)
    unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (images, sentences)]
    order = -np.square(np.maximum(sentences[None] - images[:, None], 0)).sum(axis=2)
    expected = {"dot": images @ sentences.T, "cosine": unit[0] @ unit[1].T, "order": order}
    for similarity, scores in expected.items():
        found = given(GivenLayout(similarity=similarity), images=images, sentences=sentences)
        known = retrieve(of_array(scores), test.rows, test.folds)
        same(found.drop(columns="top_scores"), known.drop(columns="top_scores"))
        np.testing.assert_allclose(*(np.concatenate(one["top_scores"]) for one in (found, known)), atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "factor"), [("f4", 1e-14), ("f4", 1e21), ("f4", 1e-42), ("f8", 1e-310), ("f8", 1e300)]
)
def test_a_cosine_ignores_lengths(given, dtype, factor):
    images, sentences = floats(8, 16, dtype=dtype), floats(40, 16, seed=1, dtype=dtype)
    plain = given(COSINE, images=images, sentences=sentences)
    images[::2] *= np.dtype(dtype).type(factor)
    sentences[::3] *= np.dtype(dtype).type(factor)
    changed = given(COSINE, images=images, sentences=sentences)
    assert metrics_of(changed) == metrics_of(plain)
    assert (changed["tied"] == plain["tied"]).all()


@pytest.mark.parametrize("similarity", ["dot", "order"])
@pytest.mark.parametrize(("dtype", "factor"), [("f4", 1e20), ("f4", 1e-25), ("f8", 1e-60)])
def test_vectors_whose_scores_float32_cannot_hold_are_named(given, similarity, dtype, factor):
    images, sentences = floats(8, 16, dtype=dtype), floats(40, 16, seed=1, dtype=dtype)
    images[3] *= factor
    with pytest.raises(
        InputError, match=r"images.npy: the largest number of row 3 is \d.\de[+-]\d+, and float32 cannot"
    ):
        given(GivenLayout(similarity=similarity), images=images, sentences=sentences)


def padded(items, most, length, seed):
    """(items, most, length) vectors, of which each item has some; the others are zero. The first item has one."""
    random = np.random.default_rng(seed)
    counts = np.concatenate([[1, most], random.integers(1, most + 1, items - 2)])
    vectors = random.normal(size=(items, most, length)).astype(np.float32)
    return np.where(np.arange(most)[:, None] < counts[:, None, None], vectors, 0).astype(np.float32)


def sum_of_best(summed, chosen):
    """The sum over the vectors of one item of the best product with one of another, by a loop in float64."""
    there, others = (item[item.any(axis=1)].astype(float) for item in (summed, chosen))
    return sum(max(float(vector @ other) for other in others) for vector in there)


def test_several_vectors_are_compared_by_sums_of_the_best(given, test):
    images, sentences = padded(8, 4, 6, seed=0), padded(40, 7, 6, seed=1)
    images[2] = -np.abs(images[2])
    sentences[:3] = np.abs(sentences[:3])  # all products with image 2 are negative, and its padding is no better one
    by_sentence = np.array([[sum_of_best(sentence, image) for sentence in sentences] for image in images])
    by_image = np.array([[sum_of_best(image, sentence) for sentence in sentences] for image in images])
    assert (by_sentence[2, :3] < 0).all()
    for similarity, i2t in (("max_sum", by_sentence), ("max_sum_of_query", by_image)):
        found = given(GivenLayout(similarity=similarity), images=images, sentences=sentences)
        known = retrieve_by_direction(of_array(i2t), of_array(by_sentence), test.rows, test.folds)
        same(found.drop(columns="top_scores"), known.drop(columns="top_scores"))
        np.testing.assert_allclose(*(np.concatenate(one["top_scores"]) for one in (found, known)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("similarity", SEVERAL)
def test_items_with_the_same_vectors_tie_in_any_tile_and_order(tmp_path, given, similarity):
    test = write_tables(tmp_path, [1] * 1100)
    images, sentences = padded(1100, 5, 48, seed=0), padded(1100, 6, 48, seed=1)
    images[1099] = images[3]
    sentences[1099] = sentences[3][::-1]  # its padding stands before its vectors
    rows = given(GivenLayout(similarity=similarity), of=test, images=images, sentences=sentences)
    both = rows[rows["query_id"].isin(["i3#0", "i1099#0", "i3", "i1099"])]
    assert len(both) == 4
    assert both["tied"].all()


def test_several_vectors_are_ranked_the_same_in_parts_of_any_size(given, monkeypatch):
    files = {"images": padded(8, 4, 6, seed=0), "sentences": padded(40, 7, 6, seed=1)}
    whole = given(GivenLayout(similarity="max_sum"), **files)
    monkeypatch.setattr("densevse.evaluation.vectors._CHOSEN", 5)
    monkeypatch.setattr("densevse.evaluation.vectors._SUMMED", 3)
    same(given(GivenLayout(similarity="max_sum"), **files), whole)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda images: images[:, 0], r"images.npy: expected an array of 3 dimensions, found the shape \(8, 6\)"),
        (lambda images: images[:7], r"images.npy: expected 8 x 4 x 6, as the test split has, found 7 x 4 x 6"),
        (lambda images: images[..., :5], r"images.npy: a vector has 5 numbers, and in .*sentences.npy 6"),
        (lambda images: images * (np.arange(8) != 3)[:, None, None], r"images.npy: row 3 has zero vectors only"),
        (lambda images: images + np.where(np.arange(8) == 5, np.nan, 0)[:, None, None], r"row 5 has a number that is"),
        (lambda images: images * 1e20, r"images.npy: the largest number of row 0 is .* float32 cannot hold"),
    ],
    ids=["one vector each", "too few", "another space", "none", "not a number", "too large"],
)
def test_several_vectors_that_cannot_be_compared_are_named(given, change, said):
    images = change(padded(8, 4, 6, seed=0)).astype(np.float32)
    with pytest.raises(InputError, match=said):
        given(GivenLayout(similarity="max_sum"), images=images, sentences=padded(40, 7, 6, seed=1))


def logarithms_of_likelihoods():
    """Scores (8, 40), with pairs that are told apart in float64 only if they are exponentials."""
    return floats(8, 40, dtype=np.float64) * 10 - 120


@pytest.mark.parametrize(
    "scores",
    [
        np.exp(logarithms_of_likelihoods()),
        1 + 1e-9 * logarithms_of_likelihoods(),
        1e6 + logarithms_of_likelihoods(),
        1e300 * logarithms_of_likelihoods(),
    ],
    ids=["below float32", "nearer than float32", "far from zero", "beyond float32"],
)
def test_scores_of_float64_are_ranked_as_they_are(given, scores):
    expected = given(scores=logarithms_of_likelihoods())
    assert not expected["tied"].any()
    same(given(scores=scores).drop(columns="top_scores"), expected.drop(columns="top_scores"))


def test_equal_scores_of_float64_are_listed_in_the_order_of_the_candidates(tmp_path, given):
    test = write_tables(tmp_path, [5] * 1100)
    scores = np.round(floats(1100, 5500), 1)
    same(given(of=test, scores=scores.astype(np.float64)), given(of=test, scores=scores))


def test_identical_vectors_tie_wherever_they_stand(tmp_path, given):
    """In other tiles, too: the ranks of a model whose encodings they are do so."""
    test = write_tables(tmp_path, [1] * 1100)
    images, sentences = floats(1100, 48), floats(1100, 48, seed=1)
    images[1099] = images[3]
    rows = given(COSINE, of=test, images=images, sentences=sentences)
    both = rows[rows["query_id"].isin(["i3#0", "i1099#0"])]
    assert both["tied"].all()
    assert (both["rank"] > 1).all()


def recalls(rows):
    metrics = metrics_of(rows)
    keys = ("r1", "r5", "r10", "median_rank", "mean_rank")
    return [[metrics[f"{direction}_{key}"] for key in keys] for direction in ("i2t", "t2i")]


@pytest.mark.parametrize("measure", ["cosine", "order"])
def test_recalls_are_those_of_vsepp_of_the_same_embeddings(tmp_path, given, measure):
    test = write_tables(tmp_path, [5] * 60)
    images, sentences = np.abs(floats(60, 16)), np.abs(floats(300, 16, seed=1))
    sentences = 1.5 * sentences + np.repeat(images, 5, axis=0)  # some are found
    images, sentences = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (images, sentences))
    images = np.repeat(images, 5, axis=0)
    rows = given(GivenLayout(similarity=measure, copies=5), of=test, images=images, sentences=sentences)
    assert not rows["tied"].any()
    i2t, t2i = (function(images, sentences, measure) for function in (i2t_of_vsepp, t2i_of_vsepp))
    ours = recalls(rows)
    assert ours[0][:3] == pytest.approx(i2t[:3])
    assert ours[1][:3] == pytest.approx(t2i[:3])
    assert 10 < i2t[0] < 100
    assert [ours[0][4], ours[1][4]] == pytest.approx([i2t[4], t2i[4]])


def test_recalls_are_those_of_scan_of_the_same_scores(tmp_path, given):
    test = write_tables(tmp_path, [5] * 60)
    scores = floats(60, 300) + 2.5 * np.repeat(np.eye(60, dtype=np.float32), 5, axis=1)
    rows = given(of=test, scores=scores)
    assert not rows["tied"].any()
    for ours, theirs in zip(recalls(rows), (i2t_of_scan(scores), t2i_of_scan(scores)), strict=True):
        assert [*ours[:3], ours[4]] == pytest.approx([*theirs[:3], theirs[4]])
        assert np.floor(ours[3]) == theirs[3]
        assert 10 < theirs[0] < 100


def wrong(message, layout=PLAIN, **files):
    return pytest.param(files, layout, message, id=message[:40])


GOOD = floats(8, 40)


def with_value(value, dtype=np.float32):
    scores = GOOD.astype(dtype)
    with np.errstate(over="ignore"):
        scores[3, 7] = value
    return scores


@pytest.mark.parametrize(
    ("files", "layout", "message"),
    [
        wrong(r"scores.npy: expected 8 x 40, as the test split has, found 7 x 40. Write all pairs", scores=GOOD[:7]),
        wrong(r"found 8 x 39. Write all pairs, or name", scores=GOOD[:, :39]),
        wrong(r"found 40 x 8: it is transposed; write its transpose", scores=GOOD.T.copy()),
        wrong(r"t2i.npy: expected 40 x 8, as the test split has, found 8 x 40: it is tr", i2t=GOOD, t2i=GOOD),
        wrong(r"found 40 x 40. If each image stands there 5 times, say so by copies", scores=floats(40, 40)),
        wrong(r"images.npy: expected 8 x 4,.* found 40 x 4. If each image stands there 5 times",
              layout=COSINE, images=floats(40, 4), sentences=floats(40, 4)),
        wrong(r"images.npy: a vector has 4 numbers, and in .*sentences.npy 5; vectors of images and sentences must be",
              layout=COSINE, images=floats(8, 4), sentences=floats(40, 5)),
        wrong(r"scores.npy: expected an array of 2 dimensions, found the shape \(320,\)", scores=GOOD.ravel()),
        wrong(r"row 3, column 7 is not a number; correct it, or say by `unscored`", scores=with_value(np.nan)),
        wrong(r"row 3, column 7 is inf: float16 ends at 65,504; write float32", scores=with_value(1e6, np.float16)),
        wrong(r"row 3, column 7 is inf, which cannot be ranked; correct it", scores=with_value(np.inf, np.float64)),
        wrong(r"t2i.npy: row 7, column 3 is not a number", i2t=GOOD, t2i=with_value(np.nan).T.copy()),
        wrong(r"scores.npy: expected floats, found int64. Whole numbers are ranks or rounded values",
              scores=np.arange(320).reshape(8, 40)),
        wrong(r"images.npy: row 2, column 0 is inf: float16", layout=GivenLayout(similarity="dot"),
              images=np.where(np.arange(8)[:, None] == 2, np.float16(np.inf), floats(8, 4, dtype=np.float16)),
              sentences=floats(40, 4)),
        wrong(r"images.npy: row 2 is zero, which has no cosine", layout=COSINE,
              images=floats(8, 4) * (np.arange(8) != 2)[:, None].astype(np.float32), sentences=floats(40, 4)),
        wrong(r"nothing.npy: no such file", scores="nothing.npy"),
        wrong(r"scores.npy: expected floats, found complex64. Write", scores=GOOD.astype(np.complex64)),
        wrong(r"scores.npy: there are no numbers, as the shape is \(0, 40\)", scores=GOOD[:0]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_file_and_row(given, files, layout, message):
    with pytest.raises(InputError, match=message):
        given(layout, **files)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([*"01234566"], r"ids.txt: these image_ids stand there twice: 'i6'; leave one of each"),
        ([*"0123456x"], r"these image_ids are unknown: 'ix'; they are those of the column image_id of images.parquet"),
        ([*"0123456"], r"these image_ids are missing: 'i7'; add their rows, or use another protocol"),
    ],
)
def test_ids_that_do_not_fit_are_named(tmp_path, given, ids, message):
    (tmp_path / "ids.txt").write_text("\n".join(f"i{name}" for name in ids))
    with pytest.raises(InputError, match=message):
        given(scores=GOOD, image_ids=str(tmp_path / "ids.txt"))


def test_ids_of_another_kind_are_refused(tmp_path, given):
    np.save(tmp_path / "ids.npy", floats(8))
    with pytest.raises(InputError, match=r"ids.npy: expected a list of ids, as text or whole numbers, found float32"):
        given(scores=GOOD, image_ids=str(tmp_path / "ids.npy"))
    np.save(tmp_path / "ids.npy", np.array(["i0", None], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"ids.npy: not readable as ids .* write one id a line"):
        given(scores=GOOD, image_ids=str(tmp_path / "ids.npy"))


def test_whole_numbers_are_ids(tmp_path, given):
    images = pd.DataFrame({"image_id": [str(n) for n in (7, 8, 9)], "split": "test", "captions": 1, "source": "images"})
    images = images.assign(file="", width=8, height=8, sha256="", family=images["image_id"], status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet")
    captions = images[["image_id", "split"]].assign(caption_id=images["image_id"] + "#0", position=0, text="a")
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet")
    test = read_test(tmp_path / "images.parquet", tmp_path / "captions.parquet", "full")
    np.save(tmp_path / "ids.npy", np.array([9, 7, 8]))
    scores = floats(3, 3)
    found = given(of=test, scores=scores, image_ids=str(tmp_path / "ids.npy"))
    same(found, given(of=test, scores=scores[[1, 2, 0]]))


class Loaded:
    def __reduce__(self):
        return print, ("a pickle was loaded",)


def test_pickles_and_objects_are_never_loaded(tmp_path, given, capsys):
    convert = r"np.save\('array.npy', np.asarray\(values, np.float32\)\)"
    with open(tmp_path / "pickled.npy", "wb") as file:
        pickle.dump(Loaded(), file)
    np.save(tmp_path / "objects.npy", np.array([[Loaded()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", scores=np.array([[Loaded()]], dtype=object))
    torch.save(torch.ones(8, 40), tmp_path / "scores.pt")
    capsys.readouterr()
    for name, what in (
        ("pickled.npy", "found a pickle, which is not loaded"),
        ("objects.npy", "found Python objects, which are not loaded"),
        ("objects.npz", "found Python objects, which are not loaded"),
        ("scores.pt", "pickles and other formats are not loaded"),
    ):
        with pytest.raises(InputError, match=f"{name}.*{what}.*{convert}"):
            given(scores=str(tmp_path / name))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("shape", "dtype", "said"),
    [
        ((3, 20, 4000), "<f4", r"expected an array of 2 dimensions, found the shape \(3, 20, 4000\)"),
        ((60, 4000), "<i4", "expected floats, found int32"),
    ],
)
def test_a_compressed_array_of_no_use_is_not_unpacked(tmp_path, given, monkeypatch, shape, dtype, said):
    monkeypatch.setattr("densevse.artifacts.matrices.shutil.copyfileobj", lambda *_: pytest.fail("it was unpacked"))
    compressed(tmp_path / "mine.npz", scores=np.random.default_rng(0).integers(0, 99, shape).astype(dtype))
    with pytest.raises(InputError, match=rf"mine.npz, scores: {said}"):
        given(scores=str(tmp_path / "mine.npz"))


def test_bombs_are_not_unpacked(tmp_path, given):
    """Equal numbers take next to no room, in a compressed npz and in Parquet."""
    compressed(tmp_path / "bomb.npz", scores=np.zeros((8, 1_000_000), np.float32))
    parquet(tmp_path / "bomb.parquet", scores=np.zeros((8, 1_000_000), np.float32))
    for name in ("bomb.npz", "bomb.parquet"):
        with pytest.raises(InputError, match=rf"{name}: refused to read scores.* would become 32,000.* uncompressed"):
            given(scores=str(tmp_path / name))


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "parquet"])
def test_truncated_files_are_refused(tmp_path, given, suffix):
    path = tmp_path / f"mine.{suffix}"
    save = {
        "npy": lambda path, scores: np.save(path, scores),
        "npz": npz,
        "safetensors": safetensors,
        "parquet": parquet,
    }
    save[suffix](path, scores=GOOD)
    whole = path.read_bytes()
    for kept in (len(whole) - 1, len(whole) // 2, 0):
        path.write_bytes(whole[:kept])
        with pytest.raises(InputError, match=rf"mine.{suffix}: not a whole {suffix} file"):
            given(scores=str(path))


def test_a_damaged_compressed_file_is_refused(tmp_path, given):
    path = tmp_path / "mine.npz"
    compressed(path, scores=GOOD)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        header = archive.getinfo("scores.npy").header_offset
    start = header + 30 + sum(data[header + 26 : header + 30 : 2]) + 256 * sum(data[header + 27 : header + 30 : 2])
    for place in (start + 200, start):  # the numbers are others, and no compressed ones
        path.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        with pytest.raises(InputError, match=r"mine.npz: not a whole npz file"):
            given(scores=str(path))


def test_rows_of_other_lengths_are_refused(tmp_path, given):
    pd.DataFrame({"scores": [*GOOD[:5], GOOD[5, :39], *GOOD[6:]]}).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=r"mine.parquet, scores: row 5 .*has not the 40 numbers of the first"):
        given(scores=str(tmp_path / "mine.parquet"))


def test_images_without_as_many_sentences_as_copies_are_named(tmp_path, given):
    test = write_tables(tmp_path, [5, 6, 5, 4])
    with pytest.raises(InputError, match=r"copies: 5 is for images with 5 sentences each, and 2 of .*: i1, i3\. Give"):
        given(GivenLayout(copies=5), of=test, scores=floats(20, 20))


def test_the_artifact_says_what_it_is_of(tmp_path, test):
    np.save(tmp_path / "mine.npy", GOOD)
    wildcards = {"dataset": "scenes", "variant": "mine", "seed": "0", "protocol": "full"}
    with making(Statement(wildcards=wildcards)):
        write_given_retrieval(
            image_table=str(tmp_path / "images.parquet"),
            caption_table=str(tmp_path / "captions.parquet"),
            layout=PLAIN.model_dump(),
            ranked_sentences="all",
            top=10,
            wildcards=wildcards,
            output=str(tmp_path / "given.parquet"),
            scores=str(tmp_path / "mine.npy"),
        )
    assert read_identity(tmp_path / "given.parquet") == Identity("scenes", "mine", 0, None, "full", "test")
    stated = schema.check(tmp_path / "given.parquet", RETRIEVAL)
    assert stated.found["given"] == {"scores": "mine.npy"}
    assert str(tmp_path) not in json.dumps(stated.values())

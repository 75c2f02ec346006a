"""`densevse compare` compares results, query by query."""

import shutil

import numpy as np
import pandas as pd
import pytest

import examples.compare
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.command.comparison import Measurement, compare, find_retrievals, pairs
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.protocols import folds, select_split
from densevse.report.sections import list_queries
from snakeproof import schema


def data_set(folder, images=40, text="a dog", sentences=2, **found):
    """Writes the tables of a data set, which state what their job `found`; returns its folder below `folder`."""
    ids = [f"i{number:02}" for number in range(images)]
    rows = pd.DataFrame({"image_id": ids, "source": "images", "file": "a.jpg", "split": "test", "family": ids})
    rows = rows.assign(width=4, height=4, sha256="", captions=sentences, status="ok")
    rows_of_captions = [(f"{name}#{k}", name, k, text, "test") for name in ids for k in range(sentences)]
    captions = pd.DataFrame(rows_of_captions, columns=["caption_id", "image_id", "position", "text", "split"])
    place = folder / "mine"
    schema.write(rows, IMAGES, place / "images.parquet", dataset="mine", **found)
    schema.write(captions, CAPTIONS, place / "captions.parquet", dataset="mine", **found)
    return place


def queries(place, protocol="full", sentences="all"):
    tables = (
        schema.read(place / f"{name}.parquet", kind) for name, kind in (("images", IMAGES), ("captions", CAPTIONS))
    )
    test_set = select_split(*tables, sentences=sentences)
    return list_queries(test_set, folds(test_set, protocol))


def retrieve(place, variant, random, seed=0, round=0, protocol="full", worse=0, sentences="all"):
    """Writes a retrieval with random ranks that are higher by `worse`."""
    rows, _ = queries(place, "full" if protocol == "regions" else protocol, sentences)
    rows = rows.assign(rank=worse + np.random.default_rng(random).geometric(0.2, len(rows)), tied=False, candidates=80)
    rows = rows.assign(top=[["x"]] * len(rows), top_scores=[[0.5]] * len(rows), top_true=[[True]] * len(rows))
    path = place / f"retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet"
    of = Identity("mine", variant=variant, seed=seed, round=round, protocol=protocol, split="test")
    schema.write(rows, RETRIEVAL, path, **of.values())
    return path


def only(path):
    (found,) = find_retrievals(path).values()
    return found


def test_gains_are_those_of_the_bootstrap_that_tables_use(tmp_path):
    place = data_set(tmp_path)
    files = [retrieve(place, "vse", 1, worse=3), retrieve(place, "vsepp", 2)]
    gains = {gain.metric: gain for gain in compare(*map(only, files))}
    bootstrap = retrieval_bootstrap(*queries(place))
    first, second = (bootstrap.replicates([schema.read(file, RETRIEVAL)]) for file in files)
    for metric, gain in gains.items():
        assert gain.interval == bootstrap.difference(metric, second, first)
        assert gain.difference == pytest.approx(float(second.by_seed[metric][0] - first.by_seed[metric][0]))
    assert gains["rsum"].difference > 0
    assert gains["rsum"].interval.excludes_zero


def test_the_last_round_of_each_seed_is_compared(tmp_path):
    place = data_set(tmp_path)
    for seed in (0, 1):
        for round in (0, 2):
            retrieve(place, "hm_lstm", seed, seed, round)
    found = find_retrievals(place / "retrieval/full/hm_lstm")
    assert {seed: file.name for seed, file in found[Measurement("mine", "full", "hm_lstm")].files.items()} == {
        0: "round2.parquet",
        1: "round2.parquet",
    }


def test_seeds_that_end_at_different_rounds_are_not_averaged(tmp_path, densevse):
    place = data_set(tmp_path)
    retrieve(place, "vse", 5)
    for seed, last in ((0, 3), (1, 1)):
        retrieve(place, "hm_lstm", seed, seed, last)
    folders = [str(place / "retrieval/full" / variant) for variant in ("vse", "hm_lstm")]
    answer = densevse("compare", *folders)
    assert answer.status == 1
    assert (
        "hm_lstm on mine, protocol full: the seeds end at different rounds (seed 0 at 3, seed 1 at 1)" in answer.errors
    )
    retrieve(place, "hm_lstm", 1, 1, 3)
    assert "hm_lstm on mine, protocol full, seeds 0, 1, round 3\n" in densevse("compare", *folders).output


def test_two_runs_are_compared_where_they_hold_the_same(tmp_path, densevse):
    first, second = data_set(tmp_path / "a"), data_set(tmp_path / "b")
    for place, variants in ((first, ("vse", "sco")), (second, ("vse", "order"))):
        for number, variant in enumerate(variants):
            retrieve(place, variant, number)
    assert [one.of.variant for one, _ in pairs(find_retrievals(tmp_path / "a"), find_retrievals(tmp_path / "b"))] == [
        "vse"
    ]
    answer = densevse("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert answer.status == 0
    assert "In one of the two alone: order on mine, protocol full; sco on mine, protocol full." in answer.output
    rows = [line.split() for line in answer.lines if line.startswith("  rsum")]
    assert rows == [["rsum", rows[0][1], rows[0][1], "+0.0", "+0.0", "to", "+0.0", "no"]]


def refused(densevse, first, second):
    answer = densevse("compare", str(first), str(second))
    assert answer.status == 1
    assert not answer.output
    return answer.errors


def test_other_protocols_images_and_sentences_are_refused_by_name(tmp_path, densevse):
    place = data_set(tmp_path / "a")
    ours = retrieve(place, "vse", 1)
    assert "protocol: full and hodosh" in refused(densevse, ours, retrieve(place, "order", 1, protocol="hodosh"))
    fewer = retrieve(data_set(tmp_path / "b", images=30), "vse", 1)
    assert "hold different images" in refused(densevse, ours, fewer)
    reworded = retrieve(data_set(tmp_path / "c", text="a cat", reader="another"), "vse", 1)
    errors = refused(densevse, ours, reworded)
    assert "hold different captions" in errors
    assert "were made with reader None and another" in errors


def test_rankings_of_regions_are_refused(tmp_path, densevse):
    place = data_set(tmp_path / "a")
    ours, theirs = (retrieve(place, variant, 1, protocol="regions") for variant in ("vse", "order"))
    assert "compare rankings of images and sentences" in refused(densevse, ours, theirs)


def test_other_settings_of_the_same_images_and_sentences_are_not_refused(tmp_path, densevse):
    ours, remade = (retrieve(data_set(tmp_path / name, reader=name), "vse", 1) for name in "ab")
    assert densevse("compare", str(ours), str(remade)).status == 0


def test_a_retrieval_of_other_queries_than_its_data_set_is_refused(tmp_path, densevse):
    place, larger = data_set(tmp_path / "a"), data_set(tmp_path / "b", images=50)
    moved = place / "retrieval/full/order/seed0/round0.parquet"
    moved.parent.mkdir(parents=True)
    shutil.copy(retrieve(larger, "order", 1), moved)
    assert f"{moved}: answers other queries" in refused(densevse, retrieve(place, "vse", 1), moved)


def test_the_first_five_sentences_of_each_image_are_compared_where_these_are_ranked(tmp_path, densevse):
    place = data_set(tmp_path, sentences=7)
    ours, theirs = (retrieve(place, name, n, sentences="first_five") for n, name in enumerate(("vse", "vsepp")))
    gains = {gain.metric: gain for gain in compare(only(ours), only(theirs))}
    bootstrap = retrieval_bootstrap(*queries(place, sentences="first_five"))
    first, second = (bootstrap.replicates([schema.read(file, RETRIEVAL)]) for file in (ours, theirs))
    assert gains["rsum"].interval == bootstrap.difference("rsum", second, first)
    example = examples.compare.gain(str(place), [str(theirs)], [str(ours)])
    assert example == bootstrap.difference("rsum", second, first)
    errors = refused(densevse, ours, retrieve(place, "order", 2))
    assert "order/seed0/round0.parquet: answers other queries than the first result" in errors
    assert "with the same setting `sentences`" in errors


def test_what_is_no_retrieval_is_refused(tmp_path, densevse):
    place = data_set(tmp_path)
    ours = retrieve(place, "vse", 1)
    assert "no retrieval is here" in refused(densevse, ours, tmp_path / "nowhere")
    assert "expected a retrieval artifact" in refused(densevse, ours, place / "images.parquet")
    (tmp_path / "other").mkdir()
    elsewhere = tmp_path / "other" / "r.parquet"
    shutil.copy(retrieve(place, "order", 2), elsewhere)
    assert "images.parquet" in refused(densevse, ours, elsewhere)


def test_too_few_images_give_no_interval(tmp_path, densevse):
    place = data_set(tmp_path, images=5)
    answer = densevse("compare", str(retrieve(place, "vse", 1)), str(retrieve(place, "vsepp", 2)))
    assert answer.status == 0
    assert all(line.endswith("unknown  unknown") for line in answer.lines if line.startswith("  rsum"))

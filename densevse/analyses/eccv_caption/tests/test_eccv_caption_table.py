"""Measures of synthetic rankings against those of the package, and the retrievals that are refused."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("eccv_caption", reason="not installed: python envs/install.py envs/locks/eccv-caption.txt")

from eccv_caption import Metrics

from densevse.analyses.eccv_caption.plan import ExtendedTruthPlan
from densevse.analyses.eccv_caption.table import (
    EXTENDED_TRUTH_RESULTS,
    MEASURE_COLUMNS,
    make_extended_truth_table,
    measure,
    query_numbers,
    read_lists,
    read_truth,
)
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.plan import MeasuredVariant, SectionPlan
from snakeproof import schema
from snakeproof.errors import InputError
from tests.pictures import write_images
from tests.tables import outputs_in

TARGETS = ("eccv_map_at_r", "eccv_rprecision", "eccv_r1", "cxc_recalls")
TRUTH = read_truth()
LISTED = 50
pytestmark = pytest.mark.slow


@cache
def rankings(seed):
    """Direction -> query -> 50 candidates, best first: some of the true ones of each benchmark among others."""
    random, found = np.random.default_rng(seed), {}
    for direction, other in (("i2t", "t2i"), ("t2i", "i2t")):
        candidates, found[direction] = np.array(list(TRUTH.own[other])), {}
        drawn = random.choice(candidates, (len(TRUTH.own[direction]), LISTED + 20)).tolist()
        for query, others in zip(TRUTH.own[direction], drawn, strict=True):
            true = {answer for of in TRUTH.benchmarks.values() for answer in of[direction].get(query, [])}
            ranked = sorted(true & TRUTH.own[other].keys())
            kept = random.permutation(ranked)[: random.integers(len(ranked) + 1)].tolist()
            listed = list(dict.fromkeys([*kept, *others]))[:LISTED]
            found[direction][query] = random.permutation(listed).tolist()
    return found


def caption_id(sentence):
    return f"sentence {sentence}"


def write_tables(folder):
    """IMAGES, with some of the training split, and CAPTIONS of the test split."""
    ids = [*map(str, range(9_000_000, 9_000_020)), *map(str, TRUTH.own["i2t"])]
    write_images(folder, ids, Identity("coco"), split=["train"] * 20 + ["test"] * 5000)
    rows = [
        (caption_id(sentence), str(image), place, sentence)
        for image, sentences in TRUTH.own["i2t"].items()
        for place, sentence in enumerate(sentences)
    ]
    captions = pd.DataFrame(rows, columns=["caption_id", "image_id", "position", "sentid"]).assign(
        text="a", split="test"
    )
    schema.write(captions, CAPTIONS, folder / "captions.parquet", dataset="coco")


def write_retrieval(path, found, variant="mine", seed=0):
    """A RETRIEVAL artifact of rankings, with scores that descend from place to place."""
    parts = []
    for direction, query_id, candidate_id in (("i2t", str, caption_id), ("t2i", caption_id, str)):
        of = found[direction]
        rows = pd.DataFrame({"query_id": list(map(query_id, of)), "direction": direction})
        rows["top"] = [list(map(candidate_id, listed)) for listed in of.values()]
        rows["top_scores"] = [np.arange(len(listed), 0, -1, dtype=np.float32) for listed in of.values()]
        rows["top_true"] = [[False] * len(listed) for listed in of.values()]
        parts.append(rows)
    rows = pd.concat(parts, ignore_index=True).assign(fold=0, rank=1, tied=False, candidates=5000)
    of = Identity("coco", variant, seed, None, "full", "test")
    schema.write(rows, RETRIEVAL, path, **of.values())
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two rankings, r0.parquet and r1.parquet, and the tables of images and captions."""
    made = tmp_path_factory.mktemp("eccv")
    write_tables(made)
    for seed in range(2):
        write_retrieval(made / f"r{seed}.parquet", rankings(seed), seed=seed)
    return made


@pytest.fixture(scope="module")
def numbers(folder):
    return query_numbers(folder / "captions.parquet", TRUTH.own["i2t"])


@cache
def theirs(seed):
    """The package's own metrics, under our names."""
    found = rankings(seed)
    held = Metrics()
    metrics = held.compute_all_metrics(found["i2t"], found["t2i"], target_metrics=TARGETS, Ks=(1, 5, 10))
    metrics |= {f"eccv_r{k}": held.eccv_recalls(found, "all", K=k) for k in (5, 10)}
    names = {name: name.split("_", 1) for name in metrics}
    return {f"{b}_{side}_{m}": metrics[name][side] for name, (b, m) in names.items() for side in ("i2t", "t2i")}


@pytest.mark.parametrize("seed", [0, 1])
def test_measures_equal_those_of_the_package(seed, folder, numbers):
    lists = read_lists(folder / f"r{seed}.parquet", numbers, TRUTH.own)
    ours = {name: np.mean(values) for name, values in measure(lists, TRUTH.benchmarks).items()}
    assert set(ours) == set(MEASURE_COLUMNS)
    assert ours == pytest.approx(theirs(seed), rel=1e-12)
    assert 0 < min(ours.values()) < max(ours.values()) < 1


def test_the_table_has_the_means_over_seeds_with_intervals(folder):
    mine = MeasuredVariant(title="Mine", seeds=[0, 1], model="mine", round=None)
    of = {"title": "MS-COCO", "dataset": "coco", "protocol": "full", "sentences": "first_five", "published": None}
    section = SectionPlan(**of, measured={"mine": mine})
    plan = ExtendedTruthPlan(title="MS-COCO", section=section)
    outputs = outputs_in(folder)
    retrievals = [str(folder / f"r{seed}.parquet") for seed in (1, 0)]
    tables = [str(folder / f"{name}.parquet") for name in ("images", "captions")]
    make_extended_truth_table(*tables, retrievals, plan.model_dump(mode="json"), **outputs._asdict())
    [row] = schema.read(outputs.parquet, EXTENDED_TRUTH_RESULTS).to_dict("records")
    expected = pd.DataFrame([theirs(0), theirs(1)]).mean()
    for name in MEASURE_COLUMNS:
        assert row[name] == pytest.approx(100 * expected[name], rel=1e-5)
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    shown = (folder / "table.md").read_text()
    assert "test split, 5,000 images, 25,000 sentences" in shown
    assert "1,261 images and 1,332 sentences ask" in shown
    assert "5,000 images and 24,972 sentences ask" in shown
    assert r"\begin{tabular}" in (folder / "table.tex").read_text()


def changed(found, direction, change):
    return {**found, direction: change(dict(found[direction]))}


def test_other_images_are_refused_by_name(folder, numbers):
    found = rankings(0)
    first, *_ = found["i2t"]
    others = changed(found, "i2t", lambda of: {(12345678 if query == first else query): of[query] for query in of})
    path = write_retrieval(folder / "others.parquet", others)
    wrong = r"others\.parquet: .* 5,000 images of MS-COCO.* '12345678' is none of them \(1 are others, 1 are missing\)"
    with pytest.raises(InputError, match=wrong):
        read_lists(path, numbers, TRUTH.own)


def test_a_sentence_that_is_missing_is_named(folder, numbers):
    found = rankings(0)
    least = min(found["t2i"])
    fewer = changed(found, "t2i", lambda of: {query: of[query] for query in of if query != least})
    path = write_retrieval(folder / "fewer.parquet", fewer)
    with pytest.raises(InputError, match=rf"25,000 sentences of MS-COCO.* {least} is not ranked \(0 are others, 1 are"):
        read_lists(path, numbers, TRUTH.own)


def test_short_lists_are_refused(folder, numbers):
    found = {side: {query: of[:10] for query, of in lists.items()} for side, lists in rankings(0).items()}
    path = write_retrieval(folder / "short.parquet", found)
    with pytest.raises(
        InputError, match=r"short\.parquet: it lists 10 candidates of a query, and 50 are needed; set `top`"
    ):
        read_lists(path, numbers, TRUTH.own)


def test_lists_are_long_enough_for_every_query():
    assert max(len(true) for of in TRUTH.benchmarks["eccv"].values() for true in of.values()) < 50

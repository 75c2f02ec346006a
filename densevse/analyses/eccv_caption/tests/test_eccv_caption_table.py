"""Measures of synthetic rankings against those of the package, and the retrievals that are refused."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("eccv_caption", reason="the extra eccv-caption is not installed: pip install '.[eccv-caption]'")

from eccv_caption import Metrics

from densevse.analyses.eccv_caption.measures import MEASURE_COLUMNS, measure, numbers_of, read_lists
from densevse.analyses.eccv_caption.plan import ExtendedTruthPlan
from densevse.analyses.eccv_caption.table import EXTENDED_TRUTH_RESULTS, make_extended_truth_table, read_truth
from densevse.analyses.eccv_caption.tests.made_up import rankings, write_retrieval, write_tables
from densevse.artifacts import schema
from densevse.report.plan import MeasuredVariant, SectionPlan
from densevse.report.results import Outputs
from densevse.runtime.errors import InputError

TARGETS = ("eccv_map_at_r", "eccv_rprecision", "eccv_r1", "cxc_recalls")
TRUTH = read_truth()
pytestmark = pytest.mark.slow


@cache
def made_up(seed):
    return rankings(TRUTH, seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two rankings, r0.parquet and r1.parquet, and the tables of images and captions."""
    made = tmp_path_factory.mktemp("eccv")
    write_tables(made, TRUTH)
    for seed in range(2):
        write_retrieval(made / f"r{seed}.parquet", made_up(seed), seed=seed)
    return made


@pytest.fixture(scope="module")
def numbers(folder):
    return numbers_of(folder / "captions.parquet", TRUTH.own["i2t"])


@cache
def theirs(seed):
    """The package's own metrics, under our names."""
    found = made_up(seed)
    metrics = Metrics().compute_all_metrics(found["i2t"], found["t2i"], target_metrics=TARGETS, Ks=(1, 5, 10))
    names = {name: name.split("_", 1) for name in metrics}
    return {f"{b}_{side}_{m}": metrics[name][side] for name, (b, m) in names.items() for side in ("i2t", "t2i")}


@pytest.mark.parametrize("seed", [0, 1])
def test_measures_equal_those_of_the_package(seed, folder, numbers):
    lists = read_lists(folder / f"r{seed}.parquet", numbers, TRUTH.own)
    ours = {name: np.mean(values) for name, values in measure(lists, TRUTH.benchmarks).items()}
    assert set(ours) == set(MEASURE_COLUMNS)
    assert ours == theirs(seed)
    assert 0 < min(ours.values()) < max(ours.values()) < 1


def test_the_table_has_the_means_over_seeds_with_intervals(folder):
    mine = MeasuredVariant(title="Mine", seeds=[0, 1], model="mine", round=None)
    of = {"title": "MS-COCO", "dataset": "coco", "protocol": "full", "sentences": "first_five", "published": None}
    section = SectionPlan(**of, measured={"mine": mine})
    plan = ExtendedTruthPlan(title="MS-COCO", section=section, configured={})
    outputs = Outputs(*(str(folder / f"table.{kind}") for kind in ("md", "html", "tex", "csv", "parquet")))
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
    found = made_up(0)
    first, *_ = found["i2t"]
    others = changed(found, "i2t", lambda of: {(12345678 if query == first else query): of[query] for query in of})
    path = write_retrieval(folder / "others.parquet", others)
    wrong = r"others\.parquet: .* 5,000 images of MS-COCO.* '12345678' is none of them \(1 are others, 1 are missing\)"
    with pytest.raises(InputError, match=wrong):
        read_lists(path, numbers, TRUTH.own)


def test_a_sentence_that_is_missing_is_named(folder, numbers):
    found = made_up(0)
    least = min(found["t2i"])
    fewer = changed(found, "t2i", lambda of: {query: of[query] for query in of if query != least})
    path = write_retrieval(folder / "fewer.parquet", fewer)
    with pytest.raises(InputError, match=rf"25,000 sentences of MS-COCO.* {least} is not ranked \(0 are others, 1 are"):
        read_lists(path, numbers, TRUTH.own)


def test_short_lists_are_refused(folder, numbers):
    found = {side: {query: of[:10] for query, of in lists.items()} for side, lists in made_up(0).items()}
    path = write_retrieval(folder / "short.parquet", found)
    with pytest.raises(
        InputError, match=r"short\.parquet: it lists 10 candidates of a query, and 50 are needed; set `top`"
    ):
        read_lists(path, numbers, TRUTH.own)


def test_lists_are_long_enough_for_every_query():
    assert max(len(true) for of in TRUTH.benchmarks["eccv"].values() for true in of.values()) < 50

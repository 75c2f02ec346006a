"""CxC's measures of made-up vectors and files in the published form, and the plan of their table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from densevse.analyses.cxc import dag
from densevse.analyses.cxc.judgements import coco_number, read_ratings
from densevse.analyses.cxc.measures import CXC_RANKS, CXC_SCORES, correlation, write_measures
from densevse.analyses.cxc.settings import TASKS
from densevse.analyses.cxc.table import CXC_RESULTS, make_cxc_table
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.dag.project import Project, Stage
from densevse.models.embedding import _complete
from densevse.report.plan import LastRound, LastRoundsPlan
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureWriter
from tests.pictures import write_images
from tests.rules import input_of
from tests.tables import outputs_in

ROOT = Path(__file__).parents[4]
IMAGES, EACH = 12, 5
NAMES = {"image": "COCO_val2014_{:012d}.jpg", "caption": "COCO_val2014:sentid:{}"}


def numbers(kind):
    return [100 + n for n in range(IMAGES)] if kind == "image" else [7000 + n for n in range(IMAGES * EACH)]


def write_ratings(folder):
    """A file for each task with three pairs of each query, in the published form; returns the paths and the rows."""
    random, paths, rows = np.random.default_rng(0), [], {}
    for task, columns in TASKS.items():
        kinds = [column.rstrip("12") for column in columns]
        found = []
        for number in numbers(kinds[0]):
            others = [other for other in numbers(kinds[1]) if (kinds[0], number) != (kinds[1], other)]
            drawn = random.choice(others, 3, replace=False)
            found += [(number, int(other), round(float(random.uniform(0, 5)), 2)) for other in drawn]
        rows[task] = found
        lines = [",".join([*columns, "agg_score", "sampling_method"])]
        lines += [f"{NAMES[kinds[0]].format(a)},{NAMES[kinds[1]].format(b)},{rating},x" for a, b, rating in found]
        paths.append(str(folder / f"{task}_test.csv"))
        Path(paths[-1]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths, rows


def write_embeddings(path, vectors):
    """EMBEDDINGS of (images + sentences, D) vectors; the sixth sentence of the first image, which CxC leaves out."""
    images = [str(number) for number in numbers("image")]
    rows = [("image", image, "") for image in images]
    rows += [("sentence", images[n // EACH], f"c{number}") for n, number in enumerate(numbers("caption"))]
    rows.append(("sentence", images[0], "c9999"))
    frame = _complete(pd.DataFrame(rows, columns=["kind", "image_id", "caption_id"]))
    with FeatureWriter(path, EMBEDDINGS, vectors.shape[1:], np.float16) as file:
        file.append(frame, np.concatenate([vectors, vectors[:1]]).astype(np.float16))


@pytest.fixture
def measured(tmp_path):
    """The folder, the vectors and the rows of ratings of a model that was measured."""
    vectors = np.random.default_rng(1).normal(size=(IMAGES * (1 + EACH), 6)).astype(np.float16).astype(np.float64)
    paths, rows = write_ratings(tmp_path)
    write_embeddings(tmp_path / "embeddings.parquet", vectors)
    captions = [(f"c{n}", str(100 + place // EACH), place % EACH, n) for place, n in enumerate(numbers("caption"))]
    frame = pd.DataFrame(
        [*captions, ("c9999", "100", 5, 9999)], columns=["caption_id", "image_id", "position", "sentid"]
    )
    schema.write(frame.assign(text="a", split="test"), CAPTIONS, tmp_path / "captions.parquet")
    write_images(tmp_path, [str(number) for number in numbers("image")], split=["test"] * IMAGES)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    vector_of = {
        (kind, number): unit[offset + n]
        for kind, offset in (("image", 0), ("caption", IMAGES))
        for n, number in enumerate(numbers(kind))
    }
    return tmp_path, paths, rows, vector_of


def measure(folder, paths):
    files = {name: str(folder / f"{name}.parquet") for name in ("embeddings", "captions", "scores", "ranks")}
    with making(Statement(wildcards={"dataset": "coco", "variant": "vse", "seed": "0", "round": "0"})):
        write_measures(**files, judgements=paths)
    return schema.read(files["scores"], CXC_SCORES), schema.read(files["ranks"], CXC_RANKS)


def test_a_pair_that_is_rated_twice_is_refused_and_both_orders_are_not(tmp_path):
    path = tmp_path / "sis_test.csv"
    names = [NAMES["image"].format(number) for number in (1, 2)]
    rows = [",".join([*TASKS["sis"], "agg_score"]), ",".join([*names, "5"]), ",".join([*names[::-1], "4"])]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert len(read_ratings(str(path), "sis")) == 2
    path.write_text("\n".join([*rows, ",".join([*names, "1"])]), encoding="utf-8")
    with pytest.raises(InputError, match=r"sis_test\.csv, row 3: .* is of a pair that is there before, as 1 rows are"):
        read_ratings(str(path), "sis")


def test_scores_are_cosines_and_ranks_are_those_among_all_others(measured):
    folder, paths, rows, vector_of = measured
    scores, ranks = measure(folder, paths)
    for task, columns in TASKS.items():
        first, second = (column.rstrip("12") for column in columns)
        own = scores[scores["task"] == task]
        cosines = [vector_of[first, a] @ vector_of[second, b] for a, b, _ in rows[task]]
        np.testing.assert_allclose(own["score"], cosines, atol=1e-6)
        assert own["query"].tolist() == [a for a, _, _ in rows[task]]
    for direction, task, kind in (("i2i", "sis", "image"), ("t2t", "sts", "caption")):
        expected = []
        for query in numbers(kind):
            pairs = [pair for *pair, rating in rows[task] if rating >= 3 and query in pair]
            answers = {number for pair in pairs for number in pair} - {query}
            of = {other: vector_of[kind, query] @ vector_of[kind, other] for other in numbers(kind) if other != query}
            if answers:
                best = max(of[answer] for answer in answers)
                expected.append(1 + sum(score > best for other, score in of.items() if other not in answers))
        assert ranks.loc[ranks["direction"] == direction, "rank"].tolist() == expected


def test_a_correlation_is_that_of_one_pair_of_half_of_the_queries():
    random = np.random.default_rng(2)
    query, rating = np.repeat(np.arange(200), 3), random.uniform(0, 5, 600)
    score = rating + random.normal(0, 2, 600)
    rows = pd.DataFrame({"query": query, "rating": rating, "score": score})
    mean, std = correlation(rows)
    assert mean == pytest.approx(100 * spearmanr(rating, score).statistic, abs=2)
    assert std == pytest.approx(100 * (1 - (mean / 100) ** 2) / np.sqrt(100), rel=0.3), "that of 100 pairs"
    assert correlation(rows.assign(score=rating**3)) == pytest.approx((100, 0))


def test_one_pair_of_each_query_is_drawn():
    """Within each query the scores fall where ratings rise; between queries they rise together."""
    query = np.repeat(np.arange(50), 2)
    rating = query + np.tile([0.0, 0.5], 50)
    score = query + np.tile([0.5, 0.0], 50)
    assert correlation(pd.DataFrame({"query": query, "rating": rating, "score": score}))[0] == pytest.approx(100)


def test_the_table_has_a_row_for_each_variant(measured):
    folder, paths, *_ = measured
    _, ranks = measure(folder, paths)
    outputs = outputs_in(folder)
    vse = LastRound(title="VSE", seeds=[0], model="vse", round=0)
    plan = LastRoundsPlan(title="MS-COCO", dataset="coco", measured={"vse": vse}).model_dump(mode="json")
    files = [str(folder / "images.parquet"), [str(folder / "scores.parquet")], [str(folder / "ranks.parquet")]]
    make_cxc_table(*files, plan, **outputs._asdict())
    row = schema.read(outputs.parquet, CXC_RESULTS).iloc[0]
    for direction in ("i2i", "t2t"):
        of = ranks.loc[ranks["direction"] == direction, "rank"]
        assert row[f"{direction}_r5"] == pytest.approx(100 * (of <= 5).mean())
        assert row[f"{direction}_r5_low"] <= row[f"{direction}_r5"] <= row[f"{direction}_r5_high"]
    assert abs(row["sits"]) < 40, "random vectors"
    assert "VSE" in Path(outputs.markdown).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dog.jpg,COCO_val2014_000000000101.jpg,3,x", r"sis_test\.csv, row 37: .* is not two names of MS-COCO"),
        ("COCO_val2014_000000000100.jpg,COCO_val2014_000000000101.jpg,6,x", r"row 37: .* and a rating"),
        ("COCO_val2014_000000000100.jpg,COCO_val2014_000000000101.jpg,high,x", r"row 37"),
        ("COCO_val2014_000000000100.jpg,COCO_val2014_000000000999.jpg,3,x", r"the image 999 is not in the test split"),
    ],
)
def test_a_wrong_line_is_named(measured, line, message):
    folder, paths, *_ = measured
    with open(paths[1], "a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(InputError, match=message):
        measure(folder, paths)


def test_a_file_of_another_task_is_refused(tmp_path):
    paths, _ = write_ratings(tmp_path)
    with pytest.raises(InputError, match=r"sis_test\.csv: no column caption1; CxC's file has caption1, caption2"):
        read_ratings(paths[1], "sts")


def test_numbers_are_those_of_ms_coco():
    assert coco_number("image", "COCO_val2014_000000205866.jpg") == 205866
    assert coco_number("caption", "COCO_val2014:sentid:411553") == 411553
    assert coco_number("image", "COCO_val2014:sentid:411553") is None


def test_the_plan_has_the_last_round_of_each_variant():
    settings = {"cxc": {"coco": {"folder": "cxc/data", "measure": ["vse", "vsepp"]}}}
    stage = Stage(Project(ROOT, settings), dag)
    assert input_of("measure_cxc", "judgements", stage.files, dataset="coco") == [
        f"cxc/data/{task}_test.csv" for task in ("sts", "sis", "sits")
    ]
    found = input_of("cxc_table", "scores", stage.measured_rounds, dataset="coco")
    assert found[0] == "results/coco/cxc_scores/vse/seed0/round0.parquet"
    plan = LastRoundsPlan.model_validate(stage.job("coco").settings["plan"])
    assert {name: row.model for name, row in plan.measured.items()} == {"vse": "vse", "vsepp": "vsepp"}


def test_a_table_without_files_names_the_keys():
    with pytest.raises(InputError, match=r"cxc\.coco: name the folder of CxC's files as `folder`"):
        Stage(Project(ROOT, {}), dag).files("coco")
    with pytest.raises(InputError, match=r"cxc\.coco\.measure: no 'vsee'"):
        Project(ROOT, {"cxc": {"coco": {"measure": ["vsee"]}}})

"""PMRP against the authors' definition on made-up scores and classes, and the plan of its table."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.plausible_matches import dag
from densevse.analyses.plausible_matches.matches import CLASSES, PLAUSIBLE, WITHIN, Matches, write_classes
from densevse.analyses.plausible_matches.table import PLAUSIBLE_RESULTS, make_plausible_table
from densevse.artifacts.identity import Identity
from densevse.dag import tables, training
from densevse.dag.project import Project, Stage
from densevse.evaluation.protocols import TestSet
from densevse.report.plan import LastRound, LastRoundsPlan
from snakeproof import schema
from snakeproof.errors import InputError
from tests.pictures import write_images
from tests.rules import input_of
from tests.tables import outputs_in

ROOT = Path(__file__).parents[4]
IMAGES, EACH = 30, 2
IDS = np.array([f"i{n:02}" for n in range(IMAGES)], dtype=object)
OWN = np.repeat(np.arange(IMAGES), EACH)
ROWS = TestSet(IDS, np.array([f"c{n:02}" for n in range(len(OWN))], dtype=object), OWN, IDS)


def drawn():
    """(I, 5) class vectors, those of two images empty, and (I, S) scores."""
    random = np.random.default_rng(0)
    codes, scores = random.random((IMAGES, 5)) < 0.4, random.normal(size=(IMAGES, len(OWN)))
    codes[[3, 11]] = False
    codes[np.flatnonzero(~codes.any(axis=1))[2:], 0] = True
    return codes, scores


def rows_of(codes):
    image, name = np.nonzero(codes)
    return pd.DataFrame({"image_id": IDS[image], "class": [f"k{n}" for n in name]})


def of_authors(scores, distance_of):
    """The mean over z of the mean R-Precision, as in PCME's evaluate_pmrp_coco.py: queries are rows of `scores`."""
    means = []
    for z in WITHIN:
        found = []
        for query, row in enumerate(scores):
            matched = distance_of(query)[np.argsort(-row)] <= z
            found.append(matched[: matched.sum()].sum() / matched.sum())
        means.append(np.mean(found))
    return 100 * np.mean(means)


def expected(codes, scores):
    kept = np.flatnonzero(codes.any(axis=1))
    asked = np.flatnonzero(np.isin(OWN, kept))
    distance = np.abs(codes[:, None].astype(int) - codes[None]).sum(axis=2)
    part = scores[np.ix_(kept, asked)]
    return {
        "i2t": of_authors(part, lambda query: distance[kept[query], OWN[asked]]),
        "t2i": of_authors(part.T, lambda query: distance[OWN[asked[query]], kept]),
    }


def scorer_of(scores):
    return lambda images, sentences: lambda i, j: torch.from_numpy(scores[np.ix_(images, sentences)])[i, j]


def test_it_is_the_measure_of_the_authors_code(tmp_path):
    codes, scores = drawn()
    found = Matches.from_test_set(ROWS, rows_of(codes), "classes.parquet").precisions(scorer_of(scores), IDS)
    assert set(found["image_id"]) == set(IDS[codes.any(axis=1)]), "images without an object do not ask"
    of = Identity("coco", "vse", 0, 0, split="test")
    schema.write(found, PLAUSIBLE, tmp_path / "found.parquet", **of.values())
    images, outputs = write_images(tmp_path, IDS.tolist()), outputs_in(tmp_path)
    vse = LastRound(title="VSE", seeds=[0], model="vse", round=0)
    plan = LastRoundsPlan(title="MS-COCO", dataset="coco", measured={"vse": vse}).model_dump(mode="json")
    make_plausible_table(images, [str(tmp_path / "found.parquet")], plan, **outputs._asdict())
    row = schema.read(outputs.parquet, PLAUSIBLE_RESULTS).iloc[0]
    for direction, value in expected(codes, scores).items():
        assert row[direction] == pytest.approx(value, abs=1e-4)
        assert row[f"{direction}_low"] < value < row[f"{direction}_high"]
    assert "VSE" in Path(outputs.markdown).read_text(encoding="utf-8")


def test_a_test_split_without_objects_is_refused():
    others = pd.DataFrame({"image_id": ["x"], "class": ["dog"]})
    with pytest.raises(InputError, match=r"classes\.parquet: no image of the test split has an object"):
        Matches.from_test_set(ROWS, others, "classes.parquet")


def test_the_classes_are_those_of_all_objects_and_crowds(tmp_path):
    box, names = [1, 1, 5, 5], ["dog", "person"]
    objects = [(1, 7, 0), (1, 7, 0), (2, 7, 1), (1, 9, 0)]
    content = {"categories": [{"id": n + 1, "name": name} for n, name in enumerate(names)]}
    content["annotations"] = [
        {"id": n, "category_id": kind, "image_id": image, "iscrowd": crowd, "bbox": box}
        for n, (kind, image, crowd) in enumerate(objects)
    ]
    (tmp_path / "instances_val2014.json").write_text(json.dumps(content))
    write_classes({"annotations": str(tmp_path)}, str(tmp_path / "classes.parquet"))
    found = schema.read(tmp_path / "classes.parquet", CLASSES)
    assert list(zip(found["image_id"], found["class"], strict=True)) == [("7", "dog"), ("7", "person"), ("9", "dog")]


def test_the_rows_are_the_variants_of_the_main_table():
    stage = Stage(Project(ROOT, {"tables": {"coco": {"measure": ["vse", "vsepp"]}}}), dag)
    assert input_of("plausible_table", "found", partial(tables.last_rounds, stage.project), dataset="coco") == [
        f"results/coco/plausible/{name}/seed0/round0.parquet" for name in ("vse", "vsepp")
    ]
    plan = LastRoundsPlan.model_validate(stage.job("coco").settings["plan"])
    assert {name: row.seeds for name, row in plan.measured.items()} == {"vse": [0], "vsepp": [0]}
    assert training.encoded_test_job(stage.project, "coco", "vse").settings["ranked_sentences"] == "first_five"

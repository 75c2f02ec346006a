"""Sections of tables, read from synthetic artifacts."""

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.plan import MeasuredVariant, SectionPlan
from densevse.report.sections import SectionArtifacts, read_section
from snakeproof import schema

COPIES, FAMILIES = 4, 50


def images_of(path, family):
    """An image table of `COPIES` of each of `FAMILIES` images; `family` says of which family the n-th is."""
    images = pd.DataFrame(
        {"image_id": [f"i{n}" for n in range(COPIES * FAMILIES)], "source": "images", "file": "a.jpg"}
    )
    images = images.assign(split="test", width=4, height=4, sha256="", captions=1, status="ok")
    schema.write(images.assign(family=[family(n) for n in range(len(images))]), IMAGES, path, dataset="scenes")
    return str(path)


def ranked_regions(path):
    """A ranking of two regions of each image and their phrases, with the same ranks for copies of an image."""
    ranks = np.tile(np.random.default_rng(0).geometric(0.1, (FAMILIES, 2)), (COPIES, 1)).ravel()
    places = [(n, region) for n in range(COPIES * FAMILIES) for region in range(2)]
    names = {"i2t": [f"i{n}/{r}" for n, r in places], "t2i": [f"i{n}#0/{r}-{r + 1}" for n, r in places]}
    parts = [pd.DataFrame({"direction": of, "query_id": ids, "rank": ranks}) for of, ids in names.items()]
    rows = pd.concat(parts, ignore_index=True).assign(fold=0, candidates=len(places))
    rows = rows.assign(
        tied=False, top=[["x"]] * len(rows), top_scores=[[0.5]] * len(rows), top_true=[[True]] * len(rows)
    )
    of = Identity("scenes", "hm_lstm", 0, 2, "regions", "test").values()
    schema.write(rows, RETRIEVAL, path, **of, phrases_of_regions=[1] * len(places))
    return str(path)


def test_regions_of_images_of_one_family_are_drawn_together(tmp_path):
    """Copies of an image add no information: drawn separately they would halve the interval."""
    ranking = ranked_regions(tmp_path / "ranking.parquet")
    variant = MeasuredVariant(title="HM-LSTM", seeds=[0], model="hm_lstm", round=2)
    of = {"title": "Scenes", "dataset": "scenes", "protocol": "regions", "published": None}
    plan = SectionPlan(**of, measured={"hm_lstm": variant})
    width = {}
    for drawn, family in (("family", lambda n: f"f{n % FAMILIES}"), ("image", lambda n: f"i{n}")):
        images = images_of(tmp_path / f"{drawn}.parquet", family)
        section = read_section(plan, SectionArtifacts.from_paths([images], [], [ranking]))
        [row] = [row for row in section.rows([], {}, None) if row.kind == "measured"]
        width[drawn] = row.intervals["rsum"].high - row.intervals["rsum"].low
    assert width["image"] == pytest.approx(width["family"] / 2, rel=0.15)

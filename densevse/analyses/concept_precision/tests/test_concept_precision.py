"""The average precision of a trained concept network, and the picture of what it predicts."""

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.concept_precision.precision import (
    AVERAGE_PRECISION,
    FEWEST,
    MEAN_AVERAGE_PRECISION,
    draw_predicted_concepts,
    write_average_precision,
    write_concept_table,
)
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.models.concepts import score_concepts
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter
from tests.concepts import folder, job, tables, written
from tests.pictures import write_images
from tests.tables import unaligned
from tests.trainings import train_head

__all__ = ["folder"]


@pytest.mark.parametrize("learns_from", ["whole", "regions"])
def test_what_a_head_has_learned_is_measured(folder, tmp_path, learns_from):
    files = written(tmp_path)
    train_head(tables(folder), [str(folder / "regions.parquet")], job(learns_from=learns_from), files)
    views = {view: str(tmp_path / view / "00-of-01.parquet") for view in ("concepts", "concepts_whole")}
    regions = str(folder / "regions.parquet")
    score_concepts(regions, files.weights, "head", 1, **views)
    each, mean = str(tmp_path / "each.parquet"), str(tmp_path / "mean.parquet")
    best_region, whole_image = ([shard] for shard in views.values())
    write_average_precision(**tables(folder), best_region=best_region, whole_image=whole_image, each=each, mean=mean)
    found, means = schema.read(each, AVERAGE_PRECISION), schema.read(mean, MEAN_AVERAGE_PRECISION)
    best = found.groupby("split")["average_precision"].mean()
    assert (best > found.groupby("split")["frequency"].mean() + 0.2).all()
    enough = found[(found["split"] == "val") & (found["images"] >= FEWEST)]
    val = means.set_index("split").loc["val"]
    assert val["concepts"] == len(enough)
    assert val["best_region"] == pytest.approx(enough["average_precision"].mean())
    assert val["gain"] == pytest.approx((enough["average_precision"] - enough["average_precision_whole"]).mean())
    assert val["best_region_low"] <= val["best_region"] <= val["best_region_high"]
    outputs = [str(tmp_path / f"table.{ending}") for ending in ("md", "html", "tex")]
    write_concept_table(tables(folder)["concepts"], each, mean, "Toy", *outputs)
    text = unaligned((tmp_path / "table.md").read_text())
    assert "3 concepts: 3 adjectives" in text
    assert "| red | adjective |" in text


def test_scores_of_another_vocabulary_are_refused(folder, tmp_path):
    with FeatureWriter(tmp_path / "scores.parquet", IMAGE_FEATURES, (2,), np.float16) as file:
        file.append(pd.DataFrame({"image_id": ["train0"]}), np.zeros((1, 2)))
    scores = [str(tmp_path / "scores.parquet")]
    with pytest.raises(InputError, match="scores of 2 concepts, expected 3"):
        write_average_precision(**tables(folder), best_region=scores, whole_image=scores, each="unused", mean="unused")


@pytest.fixture
def drawn(tmp_path):
    write_images(tmp_path, ["i0", "i1"], drawn=True)
    names = ["dog", "$run$", "two"]
    kinds = {"kind": "noun", "count": 3, "image_count": 2}
    rows = [{"index": index, "concept": name, "forms": [name], **kinds} for index, name in enumerate(names)]
    schema.write(rows, CONCEPTS, tmp_path / "concepts.parquet")
    rows = [{"image_id": "i0", "concepts": [0]}, {"image_id": "i1", "concepts": []}]
    schema.write(rows, IMAGE_CONCEPTS, tmp_path / "image_concepts.parquet")
    return tmp_path


def draw_concepts(folder, scores, name):
    with FeatureWriter(folder / "scores.parquet", IMAGE_FEATURES, (3,), np.float16) as file:
        file.append(pd.DataFrame({"image_id": ["i0", "i1"]}), np.array(scores))
    read = [str(folder / f"{key}.parquet") for key in ("images", "concepts", "image_concepts")]
    sources, path = {"images": str(folder / "images")}, folder / name
    draw_predicted_concepts([str(folder / "scores.parquet")], *read, sources, "A few", str(path))
    return path.read_bytes()


def test_the_figure_of_concepts_is_reproducible_and_shows_the_scores(drawn):
    scores = [[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]]
    first = draw_concepts(drawn, scores, "a.png")
    assert draw_concepts(drawn, scores, "b.png") == first
    assert draw_concepts(drawn, [[0.9, 0.5, 0.1], [0.2, 0.3, 0.6]], "c.png") != first

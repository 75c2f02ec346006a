import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.concept_precision.figure import draw_predicted_concepts
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.artifacts.store import FeatureWriter

IDS = ["i0", "i1"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    for image in IDS:
        Image.new("RGB", (60, 40), (10, 20, 200)).save(tmp_path / f"images/{image}.png")
    rows = pd.DataFrame({"image_id": IDS, "family": IDS, "file": [f"{image}.png" for image in IDS], "split": "test"})
    rows = rows.assign(source="images", width=60, height=40, sha256="", captions=1, status="ok")
    schema.write(rows, IMAGES, tmp_path / "images.parquet", {})
    names = ["dog", "$run$", "two"]
    kinds = {"kind": "noun", "count": 3, "image_count": 2}
    rows = [{"index": index, "concept": name, "forms": [name], **kinds} for index, name in enumerate(names)]
    schema.write(rows, CONCEPTS, tmp_path / "concepts.parquet", {})
    rows = [{"image_id": "i0", "concepts": [0]}, {"image_id": "i1", "concepts": []}]
    schema.write(rows, IMAGE_CONCEPTS, tmp_path / "image_concepts.parquet", {})
    return tmp_path


def draw_concepts(folder, scores, name):
    with FeatureWriter(folder / "scores.parquet", IMAGE_FEATURES, (3,), np.float16, {}) as file:
        file.append(pd.DataFrame({"image_id": IDS}), np.array(scores))
    tables = [str(folder / f"{key}.parquet") for key in ("images", "concepts", "image_concepts")]
    sources, path = ([str(folder / "images")], ["images"]), folder / name
    draw_predicted_concepts([str(folder / "scores.parquet")], *tables, *sources, "A few", str(path))
    return path.read_bytes()


def test_the_figure_of_concepts_is_reproducible_and_shows_the_scores(folder):
    scores = [[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]]
    first = draw_concepts(folder, scores, "a.png")
    assert draw_concepts(folder, scores, "b.png") == first
    assert draw_concepts(folder, [[0.9, 0.5, 0.1], [0.2, 0.3, 0.6]], "c.png") != first

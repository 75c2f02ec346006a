"""HM-LSTM's figures: what they choose to show, and that their bytes depend on nothing else."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.embeddings import EMBEDDINGS
from densevse.artifacts.store import FeatureWriter
from densevse.figures.assigned_regions import COLORS, correspondences, draw_phrases
from densevse.figures.embedding import embedding, project
from densevse.figures.region_phrases import nearest, region_phrases

WORDS = ["a man", "two dogs $x$", "the ball"]


@pytest.fixture
def tables(tmp_path):
    """Three pictures in a folder, with their tables and correspondences."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (60, 40), (80 * number, 90, 120)).save(folder / f"{number}.png")
    images = [
        {"image_id": str(i), "source": "images", "file": f"{i}.png", "split": "train", "width": 60, "height": 40,
         "sha256": "", "family": "f", "captions": 1, "status": "ok"}
        for i in range(3)
    ]  # fmt: skip
    captions = [
        {"caption_id": f"{i}#0", "image_id": str(i), "position": 0, "text": "a man, $two dogs$ ...", "split": "train"}
        for i in range(3)
    ]
    rows = [
        {"caption_id": f"{i}#0", "image_id": str(i), "phrase": phrase, "start": n, "end": n + 2, "region": n,
         "x": 5.0 * n, "y": 4.0, "width": 20.0, "height": 30.0, "confidence": 0.5}
        for i in range(3) for n, phrase in enumerate(WORDS)
    ]  # fmt: skip
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("images", "captions", "rows")}
    schema.write(images, IMAGES, paths["images"], {})
    schema.write(captions, CAPTIONS, paths["captions"], {})
    schema.write(rows, CORRESPONDENCES, paths["rows"], {})
    return {**paths, "sources": {"images": str(folder)}}


def embedded(path, images=3, sentences=2, dimension=8, kept=("image", "region", "sentence", "phrase")):
    """An EMBEDDINGS artifact with rows of the kinds `kept`."""
    generator = np.random.default_rng(0)
    kinds = ["image"] + ["region"] * 2 + ["sentence"] * sentences + ["phrase"] * 3
    rows = pd.DataFrame(
        [
            {"kind": kind, "image_id": str(i), "caption_id": "", "start": -1, "end": -1, "rank": n,
             "text": f"phrase {i} {n}", "x": 1.0, "y": 2.0, "width": 10.0, "height": 9.0}
            for i in range(images) for n, kind in enumerate(kinds)
        ]
    )  # fmt: skip
    vectors = generator.normal(size=(len(rows), dimension)).astype(np.float32)
    some = rows["kind"].isin(kept).to_numpy()
    with FeatureWriter(path, EMBEDDINGS, (dimension,), np.float16, {}) as file:
        file.append(rows[some], (vectors / np.linalg.norm(vectors, axis=1, keepdims=True))[some])
    return str(path)


def test_a_phrase_has_the_colour_of_its_box():
    axes = Figure().subplots()
    boxes = pd.DataFrame({"x": [0.0, 30], "y": [0.0, 5], "width": [10.0, 20], "height": [10.0, 20]})
    draw_phrases(axes, boxes.assign(phrase=WORDS[:2], confidence=[0.25, 0.5]))
    for number, (box, text) in enumerate(zip(axes.patches, axes.texts, strict=True)):
        assert box.get_edgecolor()[:3] == to_rgb(COLORS[number])
        assert text.get_color() == COLORS[number]
        assert WORDS[number] in text.get_text()
    assert axes.patches[0].get_bbox().bounds == (0, 0, 10, 10)


def test_correspondences_are_drawn_the_same_each_time(tables, tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(2)]
    for path in paths:
        correspondences(tables["rows"], tables["images"], tables["captions"], tables["sources"], "title", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert Image.open(paths[0]).size[0] > 1000


def test_the_nearest_phrases_come_best_first_and_each_wording_once():
    rows = pd.DataFrame({"text": ["A man", "a man", "a dog", "a ball"], "image_id": list("abcd")})
    vectors = np.array([[0.8, 0.6], [1, 0], [0, 1], [0.6, 0.8]], np.float32)
    found = nearest(np.array([1, 0], np.float32), rows, vectors)
    assert found["text"].tolist() == ["a man", "a ball", "a dog"]
    assert found["score"].tolist() == pytest.approx([1, 0.6, 0])


def test_phrases_of_regions_are_drawn(tables, tmp_path):
    path, rows = tmp_path / "nearest.png", embedded(tmp_path / "embeddings.parquet")
    region_phrases(rows, tables["images"], tables["sources"], "title", path)
    assert Image.open(path).size[0] > 1000


def test_no_detection_at_all_leaves_an_empty_figure(tables, tmp_path):
    path, rows = tmp_path / "nearest.png", embedded(tmp_path / "embeddings.parquet", kept=("image", "phrase"))
    region_phrases(rows, tables["images"], tables["sources"], "title", path)
    assert path.exists()


def test_the_projection_keeps_neighbours_and_is_the_same_each_time():
    generator = np.random.default_rng(0)
    centres = np.eye(3, 8).repeat(20, axis=0)
    vectors = (centres + 0.05 * generator.normal(size=centres.shape)).astype(np.float32)
    placed = project(vectors)
    assert np.array_equal(placed, project(vectors))
    middle = placed.reshape(3, 20, 2).mean(axis=1)
    distances = np.linalg.norm(placed[:, None] - middle[None], axis=2)
    assert (distances.argmin(axis=1) == np.arange(3).repeat(20)).all()


def test_the_space_is_drawn_the_same_each_time(tmp_path):
    paths = [tmp_path / f"{number}.svg" for number in range(2)]
    for path in paths:
        embedding(embedded(tmp_path / "embeddings.parquet"), "title", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()

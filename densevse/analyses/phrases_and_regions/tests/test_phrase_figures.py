"""HM-LSTM's figures: their contents, and that their bytes depend on nothing else."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from densevse.analyses.phrases_and_regions.figures import (
    draw_correspondences,
    draw_embeddings,
    draw_nearest_phrases,
    draw_space,
    nearest_phrases,
    project,
)
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.dag import datasets
from densevse.dag.project import Project, Stage
from densevse.report.figures import COLORS, draw_phrases
from snakeproof.store import FeatureWriter
from tests.pictures import WORDS, tables
from tests.rules import ROOT

__all__ = ["tables"]


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
    with FeatureWriter(path, EMBEDDINGS, (dimension,), np.float16) as file:
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
        files = tables["rows"], tables["images"], tables["captions"], tables["sources"]
        draw_correspondences(*files, "title", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert Image.open(paths[0]).size[0] > 1000


def test_the_nearest_phrases_come_best_first_and_each_wording_once():
    rows = pd.DataFrame({"text": ["A man", "a man", "a dog", "a ball"], "image_id": list("abcd")})
    vectors = np.array([[0.8, 0.6], [1, 0], [0, 1], [0.6, 0.8]], np.float32)
    found = nearest_phrases(np.array([1, 0], np.float32), rows, vectors)
    assert found["text"].tolist() == ["a man", "a ball", "a dog"]
    assert found["score"].tolist() == pytest.approx([1, 0.6, 0])


def test_phrases_of_regions_are_drawn(tables, tmp_path):
    path, rows = tmp_path / "nearest.png", embedded(tmp_path / "embeddings.parquet")
    draw_nearest_phrases(rows, tables["images"], tables["sources"], "title", path)
    assert Image.open(path).size[0] > 1000


def test_no_detection_at_all_leaves_an_empty_figure(tables, tmp_path):
    path, rows = tmp_path / "nearest.png", embedded(tmp_path / "embeddings.parquet", kept=("image", "phrase"))
    draw_nearest_phrases(rows, tables["images"], tables["sources"], "title", path)
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
        draw_space(embedded(tmp_path / "embeddings.parquet"), "title", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_job_draws_both_figures_of_the_embeddings(tables, tmp_path):
    outputs = {name: str(tmp_path / file) for name, file in {"space": "space.svg", "nearest": "nearest.png"}.items()}
    rows = embedded(tmp_path / "embeddings.parquet")
    draw_embeddings(rows, tables["images"], tables["sources"], "VSE on Scenes", **outputs)
    assert "The common space: VSE on Scenes" in (tmp_path / "space.svg").read_text()
    assert Image.open(outputs["nearest"]).size[0] > 1000


def test_figures_are_given_the_sources_and_the_title():
    given = Stage(Project(ROOT, {}), datasets).figure_job("scenes", "hm_lstm").settings
    assert given == {"source_names": ["scenes"], "title": "HM-LSTM (hm_lstm) on Scenes"}

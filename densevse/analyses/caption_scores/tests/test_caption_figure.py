"""The figure of generated sentences, with writers of different numbers of images."""

import cv2
import numpy as np
import pandas as pd
import pytest

from densevse.analyses.caption_scores.figure import draw_captions
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.plan import PicturePlan


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    ids = [f"{number}.png" for number in range(11)]
    for number, name in enumerate(ids):
        cv2.imwrite(str(tmp_path / "images" / name), np.full((20, 30, 3), 20 * number, np.uint8))
    rows = pd.DataFrame({"image_id": ids, "split": "test", "family": ids, "source": "images", "file": ids})
    sizes = {"width": 30, "height": 20, "sha256": "", "captions": 1, "status": "ok"}
    schema.write(rows.assign(**sizes), IMAGES, tmp_path / "images.parquet", {})
    return tmp_path, ids


def written(folder, name, ids, sentence):
    rows = pd.DataFrame({"image_id": np.repeat(ids, 2), "rank": [1, 2] * len(ids), "sentence": sentence})
    rows["tokens"] = [sentence.split()] * len(rows)
    rows["tags"] = [[] for _ in range(len(rows))]
    scores = dict.fromkeys(("score", "log_likelihood", "translation", "language"), 0.5)
    path = folder / f"{name}.parquet"
    schema.write(rows.assign(**scores, in_training=name == "copied"), GENERATED, path, {}, of(name))
    return str(path)


def of(name):
    return Identity("scenes", name, 0, split="test")


def draw(folder, ids, sentence, name, order=1):
    files = [written(folder, "sc_nlm", ids, sentence), written(folder, "copied", ids[:-1], "a cat")]
    shown = {"SC-NLM": of("sc_nlm"), "copied": of("copied")}
    plan, path = PicturePlan(title="Sentences", shown=shown).model_dump(mode="json"), folder / name
    sources = [str(folder / "images")], ["images"]
    draw_captions(files[::order], str(folder / "images.parquet"), *sources, plan, str(path))
    return path.read_bytes()


def test_the_figure_shows_what_was_written(folder):
    one = draw(*folder, "a dog that costs $5 runs " * 20, "one.png")
    assert one == draw(*folder, "a dog that costs $5 runs " * 20, "same.png")
    assert one != draw(*folder, "a cat sleeps", "other.png")


def test_artifacts_are_found_by_what_they_are_of_in_any_order(folder):
    assert draw(*folder, "a dog", "one.png") == draw(*folder, "a dog", "other.png", order=-1)


def test_two_images_are_enough(folder):
    path, ids = folder
    assert draw(path, ids[:2], "a dog", "two.png")

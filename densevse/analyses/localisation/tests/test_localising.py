"""Heat maps of phrases, and where they point."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.localisation.localising import heat_maps, pointing_game, write_heat_maps
from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.analyses.localisation.windows import WINDOW_FEATURES
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.data.inputs import Inputs
from densevse.methods.interface import Images, Sentences
from densevse.methods.structures import words_from_index
from densevse.models.files import build_method, load_model, save_model
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureWriter
from tests.miniature import KNOWN, SIZE

CELLS = 4
SEEN = {"network": "n", "precision": "fp32"}
CORNERS = np.array([[x, y, 4, 4] for y in (0, 4) for x in (0, 4)], float)


def by_loop(windows, scores, size, cells):
    maps = np.zeros((scores.shape[1], cells, cells))
    for phrase in range(scores.shape[1]):
        for line in range(cells):
            for column in range(cells):
                x, y = (column + 0.5) * size[0] / cells, (line + 0.5) * size[1] / cells
                covering = [
                    scores[number, phrase]
                    for number, (left, top, width, height) in enumerate(windows)
                    if left <= x < left + width and top <= y < top + height
                ]
                maps[phrase, line, column] = sum(covering) / len(covering)
    return maps.reshape(scores.shape[1], -1)


def test_a_heat_map_is_the_mean_over_the_windows_that_cover_a_cell():
    random = np.random.default_rng(0)
    begin = random.integers(0, 8, size=(30, 2))
    windows = np.concatenate([begin, random.integers(1, 6, size=(30, 2))], axis=1).astype(float)
    windows = np.concatenate([windows, [[0, 0, 12, 9]]])
    scores = random.normal(size=(31, 3))
    expected = by_loop(windows, scores, (12, 9), 5)
    np.testing.assert_allclose(heat_maps(windows, scores, (12, 9), 5), expected, atol=1e-12)


def test_the_pointing_game_by_hand():
    heat = np.zeros(16)
    heat[6] = 1.0  # the second line, the third cell of an image of 40 x 20 pixels: x 20 to 30, y 5 to 10
    found = pointing_game(heat, np.array([[0, 0, 5, 5], [24, 7, 4, 8]], float), (40, 20))
    assert (found["x"], found["y"]) == (25, 7.5)
    assert found["right"]
    assert not found["centre_right"]
    assert found["box_share"] == pytest.approx((25 + 32) / 800)
    assert not pointing_game(heat, np.array([[26, 7, 4, 8]], float), (40, 20))["right"]


def test_a_map_that_is_the_same_everywhere_points_at_the_centre():
    found = pointing_game(np.full(16, 0.3), np.array([[19, 9, 2, 2]], float), (40, 20))
    assert (found["x"], found["y"]) == (20, 10)
    assert found["right"]
    assert found["centre_right"]


@pytest.fixture
def localised(folder, files):
    """Files of a trained VSE, windows of two test images (which are 8 x 8 pixels), and boxes of phrases."""
    model = build_method("vse", {"dimension": 5, "word_dimension": 4}, Inputs(files, ["words"]).shapes())
    save_model(model, "vse", ["words"], folder / "model.safetensors", features={"whole": SEEN})
    named = schema.read(folder / "images.parquet", IMAGES)["image_id"].tail(2).tolist()
    rows = pd.DataFrame(np.tile(CORNERS, (2, 1)), columns=BOX).astype("float32").assign(image_id=np.repeat(named, 4))
    vectors = np.random.default_rng(1).normal(size=(8, SIZE)).astype(np.float16)
    job = Statement(wildcards={"dataset": "scenes", "network": "n", "view": "whole"}, given={"chosen": {"stride": 1}})
    with (
        making(job),
        FeatureWriter(folder / "windows.parquet", WINDOW_FEATURES, (SIZE,), np.float16, precision="fp32") as file,
    ):
        file.append(rows, vectors)
    phrases = [(named[0], "A red dog", 0.0), (named[0], "a red dog", 4.0), (named[1], "zebra", 0.0)]
    boxes = pd.DataFrame(phrases, columns=["image_id", "phrase", "x"]).assign(caption_id="c", start=0, end=1)
    objects = pd.DataFrame({"image_id": named, "phrase": "object", "x": 0.0, "caption_id": "", "start": -1, "end": -1})
    boxes = pd.concat([boxes, objects]).assign(y=0.0, width=4.0, height=4.0)
    schema.write(boxes, replace(BOXES, rules=()), folder / "boxes.parquet")
    paths = {"model": "model.safetensors", "image_table": "images.parquet"}
    paths |= {name: f"{name}.parquet" for name in ("windows", "boxes", "words")}
    return {name: str(folder / path) for name, path in paths.items()}, named, vectors.astype(np.float32)


def written(paths, output):
    write_heat_maps(**paths, cells=CELLS, threads=1, output=output)
    return schema.read(output, HEAT_MAPS)


def test_phrases_of_an_image_are_scored_with_its_windows(localised, tmp_path):
    paths, named, vectors = localised
    rows = written(paths, tmp_path / "maps.parquet")
    assert list(zip(rows["image_id"], rows["phrase"], strict=True)) == [(named[0], "a red dog"), (named[1], "zebra")]
    model = load_model(paths["model"]).eval()
    numbers = [[2 + KNOWN.index(word) for word in ("a", "red", "dog")], [1, 0, 0]]  # no word of "zebra" is known
    for image, number in enumerate(numbers):
        with torch.inference_mode():
            words = words_from_index(np.array([number]), torch.device("cpu"))
            windows = torch.from_numpy(vectors[4 * image : 4 * image + 4])
            encoded = model.encode_images(Images({"whole": windows}, torch.zeros(4, 0)))
            scores = model.score(encoded, model.encode_sentences(Sentences({"words": words}))).numpy()
        expected = by_loop(CORNERS, scores, (8, 8), CELLS)[0]
        np.testing.assert_allclose(rows["heat"].iloc[image], expected, atol=1e-5)
    assert rows["box_share"].tolist() == [0.5, 0.25]  # a phrase has the boxes of all its mentions
    best = CORNERS[rows["heat"].iloc[0].reshape(CELLS, CELLS)[::2, ::2].argmax()]
    assert (rows["x"].iloc[0], rows["y"].iloc[0]) == (best[0] + 2, best[1] + 2)
    assert rows["right"].iloc[0] == (best[1] == 0)


def test_names_of_objects_stand_where_no_phrase_has_a_box(localised, tmp_path):
    paths, named, _ = localised
    boxes = schema.read(paths["boxes"], BOXES)
    schema.write(boxes[boxes["start"] < 0], replace(BOXES, rules=()), paths["boxes"])
    rows = written(paths, tmp_path / "maps.parquet")
    assert list(zip(rows["image_id"], rows["phrase"], strict=True)) == [(name, "object") for name in named]


def test_a_method_of_other_views_or_structures_is_refused_by_name(localised, files, folder, tmp_path):
    paths, _, _ = localised
    regions = Inputs(files.replace_inputs(view_whole=[], view_regions=[str(folder / "regions.parquet")]), ["words"])
    parameters = {"dimension": 5, "hidden": 4, "word_vectors": "learned", "word_dimension": 3}
    model = build_method("hm_lstm", parameters, regions.shapes())
    save_model(model, "hm_lstm", ["trees"], folder / "model.safetensors", features={"regions": {}})
    message = r"this one is HMLSTM and reads \['regions'\] and \['trees'\]. Name another variant, such as vse"
    with pytest.raises(InputError, match=message):
        written(paths, tmp_path / "maps.parquet")
    assert not (tmp_path / "maps.parquet").exists()


def test_windows_of_another_network_than_the_model_s_are_refused(localised, files, folder, tmp_path):
    paths, _, _ = localised
    model = build_method("vse", {"dimension": 5, "word_dimension": 4}, Inputs(files, ["words"]).shapes())
    seen = {"whole": {**SEEN, "network": "another"}}
    save_model(model, "vse", ["words"], folder / "model.safetensors", features=seen)
    with pytest.raises(InputError, match="trained on whole features of another network"):
        written(paths, tmp_path / "maps.parquet")

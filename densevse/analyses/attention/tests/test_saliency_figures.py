import cv2
import numpy as np
import pandas as pd
import pytest

from densevse.analyses.attention.figures import (
    COLOURS,
    draw_mean_maps,
    draw_saliency_maps,
    fade_picture,
    heat_map,
    peak_saliency,
)
from densevse.analyses.attention.saliency import SALIENCY, salient_words
from densevse.analyses.attention.tests.test_saliency import attended, rows_of
from densevse.artifacts.boxes import grid_cells
from densevse.artifacts.identity import Identity
from densevse.report.plan import PicturePlan
from snakeproof import schema
from tests.pictures import tables, write_images

__all__ = ["tables"]


def test_a_heat_map_is_in_multiples_of_a_uniform_weight():
    heat = heat_map(grid_cells(60, 40, 16), np.eye(16)[0], (40, 60))
    assert heat.shape == (40, 60)
    np.testing.assert_allclose(heat[2, 2], 16, rtol=0.01)
    assert heat[30, 40] == 0


def test_a_heat_map_covers_an_image_that_is_no_square():
    uniform = heat_map(grid_cells(60, 40, 16), np.full(16, 1 / 16), (40, 60))
    np.testing.assert_allclose(uniform, 1, rtol=1e-5)
    last = heat_map(grid_cells(60, 40, 16), np.eye(16)[15], (40, 60))
    assert np.unravel_index(last.argmax(), last.shape) >= (30, 45)
    np.testing.assert_allclose(last[39, 59], 16, rtol=0.01)


def test_a_pixel_of_two_regions_has_the_larger_weight_and_one_of_none_has_0():
    heat = heat_map(np.array([[0, 0, 40, 40], [10, 10, 20, 20]], float), np.array([0.25, 0.75]), (40, 60))
    np.testing.assert_allclose([heat[0, 0], heat[20, 20], heat[20, 59]], [0.5, 1.5, 0], atol=0.1)


def test_a_faded_picture_stays_visible_below_every_colour():
    picture = np.zeros((1, 2, 3), np.uint8)
    picture[0, 1] = 255
    assert fade_picture(picture)[0, :, 0].tolist() == [110, 237]
    assert COLOURS(0.0)[3] == 0
    assert COLOURS(1.0)[3] <= 0.85


def test_the_scale_goes_to_the_most_salient_cell_and_at_least_to_2():
    rows = rows_of("a", [np.eye(16)[3], np.full(16, 1 / 16)], [[1.0]] * 2)
    assert peak_saliency(rows) == 16
    assert peak_saliency(rows[rows["step"] == 2]) == 2


def test_the_two_most_salient_words_in_their_order():
    rows = rows_of("a", [np.full(16, 1 / 16)], [[0.2, 0.1, 0.6, 0.1]])
    assert list(salient_words(rows)["word"]) == ["w0", "w2"]
    one = attended(np.ones((2, 4)), np.full((3, 2), 0.5))
    assert list(salient_words(one[one["step"] == 2])["word"]) == ["w1"]


@pytest.mark.parametrize("words_are_steps", [False, True])
def test_averaged_maps_are_drawn(tmp_path, words_are_steps):
    rows = pd.concat([rows_of(name, [np.eye(16)[n], np.full(16, 1 / 16)], [[1.0]] * 2) for n, name in enumerate("ab")])
    if words_are_steps:
        rows = attended(np.array([[0, 0, 10, 10], [20, 20, 20, 20]], float), np.full((9, 2), 0.5))
    schema.write(rows.reset_index(drop=True), SALIENCY, tmp_path / "saliency.parquet")
    images = write_images(tmp_path, "ab", width=40, height=40)
    draw_mean_maps(str(tmp_path / "saliency.parquet"), images, "A model", str(tmp_path / "mean.png"))
    assert cv2.imread(str(tmp_path / "mean.png")).std() > 10


def test_maps_of_two_models_are_drawn_beside_the_images(tables, tmp_path):
    shown = {name: Identity("scenes", name, 0, 0, split="test") for name in ("one", "other")}
    for name, of in shown.items():
        rows = pd.concat(
            [rows_of(str(n), [np.eye(16)[n], np.full(16, 1 / 16)], [[0.5, 0.3, 0.2]] * 2) for n in range(3)]
        )
        schema.write(rows.reset_index(drop=True), SALIENCY, tmp_path / f"{name}.parquet", **of.values())
    saliency, plan = [str(tmp_path / f"{name}.parquet") for name in shown], PicturePlan(title="Two", shown=shown)
    data = tables["images"], tables["captions"], tables["sources"]
    for path, files in ((tmp_path / "first.png", saliency), (tmp_path / "second.png", saliency[::-1])):
        draw_saliency_maps(files, *data, plan.model_dump(mode="json"), str(path))
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert cv2.imread(str(tmp_path / "first.png")).std() > 10

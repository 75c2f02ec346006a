"""Pictures: their plans, photographs on axes and canvases, and files."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.figures import canvas, draw_picture, number_logarithmic, place_picture, save_figure
from densevse.report.pictures import photographs, pictures
from densevse.report.plan import PicturePlan
from snakeproof import schema
from snakeproof.strict import validate


def test_a_plan_is_the_same_after_it_was_given_to_a_job_as_plain_values():
    shown = {"Ours": Identity("scenes", "vse", seed=0, split="test")}
    plan = PicturePlan(title="Two", shown=shown)
    assert validate(PicturePlan, plan.model_dump(mode="json"), "the plan of the picture") == plan


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_what_the_font_has_no_picture_of_is_written_as_its_code(tmp_path, ending):
    figure = Figure()
    figure.suptitle("a cat 猫 \U0001f993 in a café\nand more")
    save_figure(figure, tmp_path / f"figure.{ending}")
    assert figure.get_suptitle() == "a cat \\u732b \\U0001f993 in a café\nand more"


def test_a_legend_stands_below_the_figure(tmp_path):
    for name, legend in {"without": "", "with": "Green: right. " * 20}.items():
        figure = Figure(figsize=(3, 2))
        figure.suptitle("A figure")
        save_figure(figure, tmp_path / f"{name}.png", legend)
    heights = [Image.open(tmp_path / f"{name}.png").height for name in ("without", "with")]
    assert heights[0] < heights[1]
    save_figure(figure, tmp_path / "with.svg", "Green: right.")
    assert "<!-- Green: right. -->" in (tmp_path / "with.svg").read_text()


@pytest.mark.parametrize("ends", [(1.8, 60), (0.4, 3.0), (2.0, 9.0)])
def test_the_numbers_of_a_logarithmic_axis_are_plain_and_apart(ends):
    figure = Figure(figsize=(5, 3))
    axes = figure.subplots()
    axes.plot(ends, (0, 1))
    axes.set_xscale("log")
    number_logarithmic(axes.xaxis)
    figure.draw_without_rendering()
    shown = [one for one in axes.get_xticklabels(which="both") if one.get_text()]
    assert all(float(one.get_text()) > 0 for one in shown)
    places = sorted((box.x0, box.x1) for box in (one.get_window_extent() for one in shown))
    assert len(places) >= 2
    assert all(left[1] < right[0] for left, right in pairwise(places))


@pytest.fixture
def images(tmp_path):
    """A small picture, of a black and a white half, and a large one."""
    small = np.zeros((20, 40, 3), np.uint8)
    small[:, 20:] = 255
    (tmp_path / "images").mkdir()
    Image.fromarray(small).save(tmp_path / "images/small.png")
    Image.new("RGB", (300, 600)).save(tmp_path / "images/large.png")
    rows = pd.DataFrame({"image_id": ["small", "large"], "file": ["small.png", "large.png"], "family": ["a", "b"]})
    rows = rows.assign(split="test", source="images", width=1, height=1, sha256="", captions=1, status="ok")
    schema.write(rows, IMAGES, tmp_path / "images.parquet")
    return str(tmp_path / "images.parquet"), {"images": str(tmp_path / "images")}


def test_the_longer_side_has_the_pixels_that_are_asked_for(images):
    picture = pictures(*images, side=120)
    assert picture("small").shape == (60, 120, 3)
    assert picture("large").shape == (120, 60, 3)


def test_an_enlarged_picture_has_no_steps(images):
    line = pictures(*images, side=120)("small")[30, :, 0]
    between = (line > 20) & (line < 235)
    assert between.sum() >= 2
    assert np.all(np.diff(line[between].astype(int)) > 0)


def test_what_is_drawn_on_a_picture_is_placed_in_its_own_pixels(images):
    axes = Figure().subplots()
    draw_picture(axes, photographs(*images)("small"))
    assert (axes.get_xlim(), axes.get_ylim()) == ((-0.5, 39.5), (19.5, -0.5))
    assert axes.images[0].get_interpolation() == "bicubic"


def test_a_canvas_counts_inches_from_its_upper_left_corner():
    figure, axes = canvas(5, 4, "A title")
    assert tuple(figure.get_size_inches()) == (5, 4)
    place_picture(axes, np.zeros((20, 40, 3), np.uint8), (1, 1), (2, 2), "red")
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 5), (4, 0))
    assert axes.images[0].get_extent() == [1, 3, 2.5, 1.5]  # twice as wide as high, in the middle of its box
    (frame,) = axes.patches
    assert (frame.get_xy(), frame.get_width(), frame.get_height()) == ((1, 1.5), 2, 1)

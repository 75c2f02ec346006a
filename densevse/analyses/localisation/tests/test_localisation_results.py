"""The accuracy of heat maps, beside the centre and chance, and their picture."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.localisation.results import LOCALISATION_ACCURACY, accuracy, draw_heat_maps, write_table
from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.artifacts.schemas.datasets import BOXES
from snakeproof import schema
from tests.pictures import write_images


def rows(right, centre, share):
    frame = pd.DataFrame({"right": right, "centre_right": centre, "box_share": share})
    frame["image_id"] = [f"image{number // 2}" for number in range(len(frame))]
    return frame.assign(phrase="dog", x=1.0, y=1.0, heat=[[0.0]] * len(frame))


def test_each_way_to_point_has_its_share_and_what_heat_maps_have_above_it():
    asked = rows([True, True, True, False] * 5, [True, False, False, False] * 5, [0.5, 0.1, 0.1, 0.1] * 5)
    found = accuracy(asked, pd.Series({f"image{n}": f"family{n}" for n in range(10)})).set_index("by")
    assert found["accuracy"].tolist() == pytest.approx([0.75, 0.25, 0.2])
    assert found["gain"].tolist() == pytest.approx([0, 0.5, 0.55])
    assert set(found["phrases"]) == {20}
    assert set(found["images"]) == {10}
    assert 0.5 < found.loc["heat map", "low"] < 0.75 < found.loc["heat map", "high"] < 1
    # In each image heat maps have one phrase of two more than the centre.
    assert found.loc["centre", ["gain_low", "gain_high"]].tolist() == [0.5, 0.5]


def test_families_are_drawn_as_one():
    random = np.random.default_rng(0)
    asked = rows(random.random(40) < 0.5, np.repeat(random.random(20) < 0.5, 2), np.full(40, 0.2))
    each = pd.Series({image: image for image in asked["image_id"]})
    apart, together = (accuracy(asked, families).set_index("by") for families in (each, each.map(lambda _: "one")))
    assert apart.loc["heat map", "low"] < apart.loc["heat map", "accuracy"] < apart.loc["heat map", "high"]
    assert together.loc["heat map", ["low", "high"]].isna().all()  # one family cannot be drawn otherwise


def test_the_table_is_written(tmp_path):
    asked = rows([True, False], [False, False], [0.25, 0.25]).astype({"box_share": "float32"})
    schema.write(asked, HEAT_MAPS, tmp_path / "maps.parquet")
    images = write_images(tmp_path, ["image0"])
    outputs = {form: str(tmp_path / f"table.{form}") for form in ("parquet", "markdown", "html", "latex")}
    write_table(str(tmp_path / "maps.parquet"), images, "Localisation", **outputs)
    assert schema.read(outputs["parquet"], LOCALISATION_ACCURACY)["by"].tolist() == ["heat map", "centre", "chance"]
    text = (tmp_path / "table.markdown").read_text()
    assert "## 2 phrases in 1 images" in text
    assert "<h2>2 phrases in 1 images</h2>" in (tmp_path / "table.html").read_text()
    (line,) = [line for line in text.splitlines() if "peak of the heat map" in line]
    assert [cell.strip() for cell in line.split("|")[2:4]] == ["50.0", ""]
    assert "Fewer than 10 images or families" in text


@pytest.mark.parametrize("right", [True, False])
def test_maps_are_drawn_with_their_peaks(right, tmp_path):
    write_images(tmp_path, "a", drawn=True, width=120, height=100)
    boxes = pd.DataFrame({"image_id": ["a"], "caption_id": "", "phrase": "$x dog", "start": -1, "end": -1})
    schema.write(
        boxes.assign(x=10.0, y=10.0, width=20.0, height=20.0), replace(BOXES, rules=()), tmp_path / "boxes.parquet"
    )
    heat = np.arange(16, dtype=np.float32)
    maps = pd.DataFrame([{"image_id": "a", "phrase": "$x dog", "heat": heat, "x": 15.0, "y": 15.0}] * 5)
    maps = maps.assign(right=right, centre_right=False, box_share=0.1)
    schema.write(maps, HEAT_MAPS, tmp_path / "maps.parquet")
    files = (str(tmp_path / f"{name}.parquet") for name in ("maps", "images", "boxes"))
    draw_heat_maps(*files, {"images": str(tmp_path / "images")}, "VSE", str(tmp_path / "figure.png"))
    pixels = np.asarray(Image.open(tmp_path / "figure.png").convert("RGB")).reshape(-1, 3)
    marks = {mark: (pixels == mark).all(axis=1).sum() for mark in ((0x1A, 0x7F, 0x37), (0xB3, 0x26, 0x1E))}
    green, red = marks.values()
    assert (green > 50, red > 50) == (right, not right)

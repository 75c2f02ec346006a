"""Heat maps over pictures."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.localisation.figure import draw_heat_maps
from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import BOXES, IMAGES


@pytest.mark.parametrize("right", [True, False])
def test_maps_are_drawn_with_their_peaks(right, tmp_path):
    Image.fromarray(np.full((100, 120, 3), 90, np.uint8)).save(tmp_path / "a.png")
    images = pd.DataFrame({"image_id": ["a"], "source": "images", "file": "a.png", "split": "test", "family": "a"})
    images = images.assign(width=120, height=100, sha256="", captions=0, status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    boxes = pd.DataFrame({"image_id": ["a"], "caption_id": "", "phrase": "$x dog", "start": -1, "end": -1})
    schema.write(boxes.assign(x=10.0, y=10.0, width=20.0, height=20.0), BOXES, tmp_path / "boxes.parquet", {})
    heat = np.arange(16, dtype=np.float32)
    maps = pd.DataFrame([{"image_id": "a", "phrase": "$x dog", "heat": heat, "x": 15.0, "y": 15.0}] * 5)
    maps = maps.assign(right=right, centre_right=False, box_share=0.1)
    schema.write(maps, HEAT_MAPS, tmp_path / "maps.parquet", {})
    files = (str(tmp_path / f"{name}.parquet") for name in ("maps", "images", "boxes"))
    draw_heat_maps(*files, [str(tmp_path)], ["images"], "VSE", str(tmp_path / "figure.png"))
    pixels = np.asarray(Image.open(tmp_path / "figure.png").convert("RGB")).reshape(-1, 3)
    marks = {mark: (pixels == mark).all(axis=1).sum() for mark in ((0x1A, 0x7F, 0x37), (0xB3, 0x26, 0x1E))}
    green, red = marks.values()
    assert (green > 50, red > 50) == (right, not right)

"""Vector arithmetic, drawn."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.arithmetic.arithmetic import ARITHMETIC, BY
from densevse.analyses.arithmetic.figure import draw_arithmetic
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES


@pytest.mark.parametrize("kind", ["colour", "named"])
def test_queries_are_drawn_with_their_answers(kind, tmp_path):
    ids = [f"{number}.png" for number in range(4)]
    for name in ids:
        Image.fromarray(np.full((10, 12, 3), 90, np.uint8)).save(tmp_path / name)
    images = pd.DataFrame({"image_id": ids, "source": "images", "file": ids, "split": "test", "family": ids})
    images = images.assign(width=12, height=10, sha256="", captions=0, status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    rows = [
        {"image_id": asked, "kind": kind, "minus": "red", "plus": "blue", "by": by, "rank": rank, "found": answer}
        for asked in ids[:2]
        for by in BY
        for rank, answer in enumerate([name for name in ids if name != asked], 1)
    ]
    right = pd.array([None if kind == "named" else True] * len(rows), dtype="boolean")
    frame = pd.DataFrame(rows).assign(score=0.5, right=right, all_right=1, ranked=3)
    schema.write(frame, ARITHMETIC, tmp_path / "found.parquet", {})
    path = tmp_path / "figure.png"
    tables = str(tmp_path / "found.parquet"), str(tmp_path / "images.parquet")
    draw_arithmetic(*tables, [str(tmp_path)], ["images"], "VSE", str(path))
    pixels = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3).astype(int)
    green = (pixels[:, 1] > pixels[:, 0] + 60).mean()  # the frames of right answers
    assert (green > 0.001) == (kind == "colour")

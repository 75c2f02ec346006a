import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.examples.examples import draw_examples
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL


def pixels(path):
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


@pytest.fixture
def retrieved(tmp_path):
    """Three images in a folder, with two sentences each, and their retrieval."""
    (tmp_path / "images").mkdir()
    for n in range(3):
        data = io.BytesIO()
        Image.new("RGB", (30 + 20 * n, 40), (80 * n, 10, 200)).save(data, "PNG")
        (tmp_path / f"images/{n}.png").write_bytes(data.getvalue())
    images = pd.DataFrame({"image_id": ["i0", "i1", "i2"], "source": "images", "file": ["0.png", "1.png", "2.png"]})
    images = images.assign(
        split="test", width=40, height=40, sha256="", captions=2, family=images["image_id"], status="ok"
    )
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    captions = [(f"i{n}#{k}", f"i{n}", k, f"a $1 dog {n} & a <cat>_{k}", "test") for n in range(3) for k in range(2)]
    names = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(pd.DataFrame(captions, columns=names), CAPTIONS, tmp_path / "captions.parquet", {})
    ids = [caption[0] for caption in captions]
    rows = [(0, "i2t", f"i{n}", 1, 6, ids, [True, False, False, True, False, False]) for n in range(3)]
    rows += [(0, "t2i", caption, 2, 3, ["i0", "i1", "i2"], [False, True, False]) for caption in ids]
    columns = ["fold", "direction", "query_id", "rank", "candidates", "top", "top_true"]
    rows = pd.DataFrame(rows, columns=columns)
    return tmp_path, rows.assign(tied=False, top_scores=[[0.1] * len(top) for top in rows["top"]])


def draw(folder, rows, name):
    schema.write(rows, RETRIEVAL, folder / "retrieval.parquet", {})
    tables = [str(folder / f"{table}.parquet") for table in ("retrieval", "images", "captions")]
    draw_examples(*tables, [str(folder / "images")], ["images"], "VSE on a few", str(folder / name))
    return folder / name


def test_example_retrievals_are_reproducible(retrieved):
    folder, rows = retrieved
    assert draw(folder, rows, "a.png").read_bytes() == draw(folder, rows, "b.png").read_bytes()


def test_right_answers_are_marked(retrieved):
    """With every answer wrong the picture holds no green; with the right ones it does."""
    folder, rows = retrieved

    def green(path):
        red, greenness, blue = np.moveaxis(pixels(path), -1, 0)
        return int(((greenness - red > 60) & (greenness - blue > 30)).sum())

    assert green(draw(folder, rows, "right.png")) > 100
    rows["top_true"] = [[False] * len(top) for top in rows["top"]]
    assert green(draw(folder, rows, "wrong.png")) == 0

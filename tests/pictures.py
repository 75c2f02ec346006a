"""Pictures with tables that describe them, for tests of drawings on pictures."""

import pandas as pd
import pytest
from PIL import Image

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import CORRESPONDENCES
from snakeproof import schema

WORDS = ["a man", "two dogs $x$", "the ball"]


def write_images(folder, ids, identity=None, drawn=False, **columns):
    """The path of IMAGES of the split test, each a family of its own, in a folder; `columns` replace the usual values.

    If they are to be `drawn`, pictures of several colours are in <folder>/images.
    """
    usual = {"source": "images", "file": [f"{name}.png" for name in ids], "split": "test", "width": 60, "height": 40}
    usual |= {"sha256": "", "family": list(ids), "captions": 1, "status": "ok"}
    rows = pd.DataFrame({"image_id": list(ids), **usual, **columns})
    path = str(folder / "images.parquet")
    schema.write(rows, IMAGES, path, **({} if identity is None else identity.values()))
    if drawn:
        (folder / "images").mkdir()
        for number, row in enumerate(rows.itertuples()):
            picture = Image.new("RGB", (row.width, row.height), (90 + 40 * number % 160, 90, 120))
            picture.save(folder / "images" / row.file)
    return path


@pytest.fixture
def tables(tmp_path):
    """Three pictures in a folder, with their tables and correspondences."""
    ids = [str(number) for number in range(3)]
    captions = [
        {"caption_id": f"{i}#0", "image_id": i, "position": 0, "text": "a man, $two dogs$ ...", "split": "train"}
        for i in ids
    ]
    rows = [
        {"caption_id": f"{i}#0", "image_id": i, "phrase": phrase, "start": n, "end": n + 2, "region": n,
         "x": 5.0 * n, "y": 4.0, "width": 20.0, "height": 30.0, "confidence": 0.5}
        for i in ids for n, phrase in enumerate(WORDS)
    ]  # fmt: skip
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("captions", "rows")}
    paths["images"] = write_images(tmp_path, ids, drawn=True, split="train", family="f")
    schema.write(captions, CAPTIONS, paths["captions"])
    schema.write(rows, CORRESPONDENCES, paths["rows"])
    return {**paths, "sources": {"images": str(tmp_path / "images")}}

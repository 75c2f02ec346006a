"""Pictures with tables that describe them, for tests of drawings on pictures."""

import pytest
from PIL import Image

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import CORRESPONDENCES

WORDS = ["a man", "two dogs $x$", "the ball"]


@pytest.fixture
def tables(tmp_path):
    """Three pictures in a folder, with their tables and correspondences."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (60, 40), (80 * number, 90, 120)).save(folder / f"{number}.png")
    images = [
        {"image_id": str(i), "source": "images", "file": f"{i}.png", "split": "train", "width": 60, "height": 40,
         "sha256": "", "family": "f", "captions": 1, "status": "ok"}
        for i in range(3)
    ]  # fmt: skip
    captions = [
        {"caption_id": f"{i}#0", "image_id": str(i), "position": 0, "text": "a man, $two dogs$ ...", "split": "train"}
        for i in range(3)
    ]
    rows = [
        {"caption_id": f"{i}#0", "image_id": str(i), "phrase": phrase, "start": n, "end": n + 2, "region": n,
         "x": 5.0 * n, "y": 4.0, "width": 20.0, "height": 30.0, "confidence": 0.5}
        for i in range(3) for n, phrase in enumerate(WORDS)
    ]  # fmt: skip
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("images", "captions", "rows")}
    schema.write(images, IMAGES, paths["images"], {})
    schema.write(captions, CAPTIONS, paths["captions"], {})
    schema.write(rows, CORRESPONDENCES, paths["rows"], {})
    return {**paths, "sources": {"images": str(folder)}}

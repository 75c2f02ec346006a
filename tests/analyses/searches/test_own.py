"""Photographs that a person brings to a search."""

import cv2
import numpy as np
import pytest

from densevse.analyses.searches.own import write_photographs
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.runtime.errors import InputError


@pytest.fixture
def photographs(tmp_path):
    folder = tmp_path / "my photographs"
    for number, name in enumerate(["b.jpg", "a.PNG", "2024/c.jpeg"]):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / name), np.full((20 + number, 30, 3), 50 * number, np.uint8))
    (folder / "notes.txt").write_text("no photograph")
    return folder


def test_the_photographs_of_a_folder_become_an_image_table(photographs, tmp_path):
    write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    images = schema.read(tmp_path / "images.parquet", IMAGES)
    assert images["image_id"].tolist() == ["2024/c.jpeg", "a.PNG", "b.jpg"]
    assert images[["width", "height"]].to_numpy().tolist() == [[30, 22], [30, 21], [30, 20]]
    assert set(images["status"]) == {"ok"}
    assert set(images["split"]) == {"test"}


def test_a_photograph_that_cannot_be_read_is_named_with_what_to_do(photographs, tmp_path):
    (photographs / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    with pytest.raises(InputError, match=r"broken\.jpg.*\n.*Take them out of") as error:
        write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    assert "1 images cannot be read" in str(error.value)
    assert not (tmp_path / "images.parquet").exists()


def test_a_folder_without_photographs_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("no photograph")
    with pytest.raises(InputError, match="no photographs in it, only 1 other files"):
        write_photographs(str(tmp_path), 2, tmp_path / "images.parquet")

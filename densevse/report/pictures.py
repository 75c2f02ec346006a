"""The photographs in figures and on pages."""

import base64
import io
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from snakeproof import schema

Pixels: TypeAlias = NDArray[np.uint8]
Picture: TypeAlias = Callable[[str], Pixels]
"""Maps an image's id to its picture (height, width, 3)."""

_SIDE = 240  # pixels
_QUALITY = 80  # of JPEGs


def photographs(images: str, sources: Mapping[str, str]) -> Picture:
    """A function from an image's id to its pixels.

    `images` is the data set's image table, `sources` its files by source name.
    """
    rows = schema.read(images, IMAGES)
    table, files = rows.set_index("image_id"), Photographs(sources, rows)

    def photograph(image_id: str) -> Pixels:
        row = table.loc[image_id]
        return files.pixels(str(row["source"]), str(row["file"]))

    return photograph


def pictures(images: str, sources: Mapping[str, str], side: int = _SIDE) -> Picture:
    """A function from an image's id to a picture whose longer side has `side` pixels; decodes each image once."""
    photograph = photographs(images, sources)
    return cache(lambda image_id: resize_picture(photograph(image_id), side))


def resize_picture(pixels: Pixels, side: int) -> Pixels:
    """A picture whose longer side has `side` pixels."""
    image = Image.fromarray(pixels)
    if max(image.size) >= side:
        image.thumbnail((side, side))
        return np.asarray(image)
    scale = side / max(image.size)
    size = (max(1, round(scale * image.width)), max(1, round(scale * image.height)))
    return np.asarray(image.resize(size, Image.Resampling.BICUBIC))


def jpeg(pixels: Pixels, quality: int = _QUALITY) -> bytes:
    """A picture as a file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="JPEG", quality=quality)
    return file.getvalue()


def picture_element(image_id: str, picture: Picture) -> str:
    """An HTML element that holds an image's picture as JPEG."""
    data = base64.b64encode(jpeg(picture(image_id))).decode("ascii")
    return f'<img alt="{escape(image_id, quote=True)}" src="data:image/jpeg;base64,{data}">'

"""Sentences and images as a caller gives them."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from densevse.artifacts.file_names import compose_accents
from densevse.artifacts.images import decode, image_pixels
from densevse.artifacts.sentences import clean_sentence, find_lists
from densevse.data.files import Artifacts
from densevse.language.tokens import tokenize
from snakeproof.errors import InputError
from snakeproof.schema import check_rows

GivenImage: TypeAlias = str | Path | NDArray[np.uint8] | Image.Image
"""An image: the path of a file, pixels (height, width, 3) in RGB from 0 to 255, or an image of Pillow."""

Item = TypeVar("Item")


class GivenSentences(Artifacts):
    """Sentences whose ids are their texts."""

    def sentence_texts(self, caption_ids: NDArray[np.object_]) -> list[str]:
        """The sentences."""
        return list(caption_ids)

    def tokens(self, caption_ids: NDArray[np.object_]) -> Iterator[tuple[int, list[str]]]:
        """The tokens of each sentence, after its place."""
        return ((place, tokenize(text)) for place, text in enumerate(caption_ids))


def read_texts(sentences: Sequence[str]) -> NDArray[np.object_]:
    """(S,) sentences in the form in which a search reads them. Raises `InputError` that names what is no sentence."""
    listed = _check_list(sentences, "sentences")
    for row, sentence in enumerate(listed):
        if not isinstance(sentence, str):
            raise InputError(f"sentences[{row}]: expected a text, found {type(sentence).__name__}.")
    texts = [compose_accents(" ".join(clean_sentence(sentence).split())) for sentence in listed]
    rows = pd.DataFrame({"text": texts}, dtype=object)
    check_rows(rows, find_lists(rows), "sentences")
    return np.array(texts, dtype=object)


def read_images(images: Sequence[GivenImage]) -> list[tuple[int, GivenImage]]:
    """The images, each with its row. Raises `InputError` unless it is a list with at least one."""
    return list(enumerate(_check_list(images, "images")))


def read_pixels(given: tuple[int, GivenImage]) -> NDArray[np.uint8]:
    """The pixels (height, width, 3) of an image, RGB and upright. Raises `InputError` that names its row or file."""
    row, image = given
    if isinstance(image, str | os.PathLike):
        return decode(_read_bytes(Path(image)), str(image))
    if isinstance(image, Image.Image) and 0 not in image.size:
        return image_pixels(image, f"images[{row}]")
    if isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.shape[2:] == (3,) and image.size:
        return image
    found = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
    found += f" of {image.width} x {image.height}" if isinstance(image, Image.Image) else ""
    raise InputError(
        f"images[{row}]: expected a path, an image of Pillow, or an array of pixels (height, width, 3) of uint8 in "
        f"RGB, found {found}."
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the image ({error.strerror}); correct its path.") from None


def _check_list(given: Any, what: str) -> list[Any]:
    """A list of at least one item. Raises `InputError` for one item alone, or for none."""
    if isinstance(given, str | os.PathLike | Image.Image) or (isinstance(given, np.ndarray) and given.ndim == 0):
        raise InputError(f"{what}: expected a list, found one {type(given).__name__}; put it into a list.")
    listed = list(given)
    if not listed:
        raise InputError(f"{what}: the list is empty; give at least one.")
    return listed

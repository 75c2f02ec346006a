"""Reads Flickr30k Entities (Plummer et al., ICCV 2015): the boxes of the phrases in Flickr30k's captions.

Its folder or archive (annotations.zip of the authors' repository, bryanplummer/flickr30k_entities) holds
`Sentences/<image>.txt`, one caption on each line with its phrases marked, tokens separated by spaces:

    [/EN#283585/people Two young guys] with [/EN#283587/bodyparts shaggy hair] look at their hands .

and `Annotations/<image>.xml` with the boxes of the entities by number. Research use only.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from densevse.artifacts.schemas.datasets import BOXES
from densevse.datasets.archives import Archive
from densevse.datasets.texts import numbered_lines
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger, progress

_PHRASE = re.compile(r"\[/EN#(\d+)((?:/[^\s/\]]+)+)")
Box = tuple[float, float, float, float]
_Boxes = dict[str, list[Box]]


class Annotation(NamedTuple):
    """The contents of an annotation file for an image."""

    boxes: _Boxes  # boxes of each entity, by its number: x, y, width, height; pixels from 0
    width: float  # of the image, pixels; NaN if the file does not state it
    height: float


def read_entities(path: str, captions: pd.DataFrame, words: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """BOXES rows of captions (CAPTIONS rows), matched by letters, as spacing and quotes differ between releases.

    `words` has the words of each caption, as the parser cuts it: the published tokens keep "t-shirt" whole, which are
    three words here. Captions of an image with the same letters are matched in order. An entity without a box (a
    scene, or not visible) has no row. The rows also have `stated_width` and `stated_height`, the image's size in its
    annotation. Raises `InputError` if no caption is found, or if an annotation is impossible; the message names it.
    """
    rows: list[dict[str, Any]] = []
    found = 0
    with Archive.open(path) as archive:
        files = {(PurePosixPath(name).suffix, PurePosixPath(name).stem): name for name in archive.names()}
        for image_id, own in progress(captions.groupby("image_id", sort=False), "Flickr30k Entities"):
            stem = PurePosixPath(str(image_id)).stem
            if (".txt", stem) not in files or (".xml", stem) not in files:
                continue
            annotation = read_annotation(archive.read(files[".xml", stem]), files[".xml", stem])
            by_letters: dict[str, list[str]] = defaultdict(list)
            for text, caption_id in zip(own["text"], own["caption_id"], strict=True):
                by_letters[letters(text)].append(caption_id)
            for _, line in numbered_lines(archive.read(files[".txt", stem]), files[".txt", stem], "utf-8"):
                tokens, phrases = read_sentence(line)
                caption_ids = by_letters[letters(" ".join(tokens))]
                if caption_ids:
                    found += 1
                    caption_id = caption_ids.pop(0)
                    placed = among_words(tokens, phrases, words[caption_id])
                    rows += _rows(str(image_id), caption_id, placed, annotation)
    if not found:
        raise InputError(f"{path}: none of the {len(captions)} captions is in it; is this Flickr30k Entities?")
    logger.info("%d of %d captions found", found, len(captions))
    columns = [*(column.name for column in BOXES.columns), "stated_width", "stated_height"]
    return pd.DataFrame(rows, columns=columns)


def read_sentence(line: str) -> tuple[list[str], list[tuple[str, int, int]]]:
    """The tokens of a marked caption, and each phrase's entity and tokens."""
    tokens: list[str] = []
    phrases: list[tuple[str, int, int]] = []
    begun: tuple[str, int] | None = None
    for piece in line.split():
        marked = _PHRASE.fullmatch(piece)
        if marked:
            begun = (marked[1], len(tokens))
            continue
        word = piece.removesuffix("]") if begun else piece
        tokens += [word] if word else []
        if begun and piece.endswith("]"):
            phrases.append((*begun, len(tokens)))
            begun = None
    return tokens, phrases


def among_words(
    tokens: Sequence[str], phrases: Sequence[tuple[str, int, int]], words: Sequence[str]
) -> list[tuple[str, str, int, int]]:
    """Each phrase's entity and text, and its first and its end among the `words` of the same sentence, by letters.

    A phrase without letters is left out.
    """
    of_tokens, of_words = (np.cumsum([0, *(len(letters(one)) for one in cut)]) for cut in (tokens, words))
    placed = []
    for entity, start, end in phrases:
        first, last = of_tokens[start], of_tokens[end]  # the phrase's letters, counted in the sentence
        if first < last:
            begin = int(np.searchsorted(of_words, first, side="right")) - 1
            stop = int(np.searchsorted(of_words, last, side="left"))
            placed.append((entity, " ".join(tokens[start:end]), begin, stop))
    return placed


def read_annotation(data: bytes, name: str) -> Annotation:
    """The boxes of each entity in an annotation file, and its image's size.

    Raises `InputError` that names the file if it is no such annotation or has an impossible box.
    """
    boxes: _Boxes = defaultdict(list)
    try:
        root = ElementTree.fromstring(data)
        for item in root.iter("object"):
            corners = item.find("bndbox")
            if corners is not None:
                box = _box(*(float(corners.findtext(key, "")) for key in ("xmin", "ymin", "xmax", "ymax")))
                for entity in item.findall("name"):
                    boxes[entity.text or ""].append(box)
        width, height = (float(root.findtext(f"size/{side}") or "nan") for side in ("width", "height"))
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError(f"{name}: not an annotation of Flickr30k Entities: {error}") from error
    return Annotation(boxes, width, height)


def _box(left: float, top: float, right: float, bottom: float) -> Box:
    """The box from its first and last pixel. These count from 1, but a few at the edge are stated as 0."""
    if not (0 <= left <= right and 0 <= top <= bottom):
        raise ValueError(f"a box from {left:g}, {top:g} to {right:g}, {bottom:g}")
    left, top = max(left, 1), max(top, 1)
    return left - 1, top - 1, right - left + 1, bottom - top + 1


def letters(text: str) -> str:
    """A caption's letters and digits, which are the same in every release."""
    return "".join(character for character in text.lower() if character.isalnum())


def _rows(
    image_id: str, caption_id: str, phrases: list[tuple[str, str, int, int]], annotation: Annotation
) -> Iterator[dict[str, Any]]:
    for entity, phrase, start, end in phrases:
        for box in annotation.boxes.get(entity, []):
            place = dict(zip(("x", "y", "width", "height"), box, strict=True))
            yield {
                "image_id": image_id,
                "caption_id": caption_id,
                "phrase": phrase,
                "start": start,
                "end": end,
                **place,
                "stated_width": annotation.width,
                "stated_height": annotation.height,
            }

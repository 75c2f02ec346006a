"""Reads a user's true boxes for a data set: a Parquet file in the documented format, or Flickr30k Entities.

The Parquet file has the columns of the BOXES schema (densevse/artifacts/schemas/datasets.py): image_id, caption_id,
phrase, start, end (token indices in the caption's parse), x, y, width, height (pixels of the upright image). A phrase
may have several boxes. Any program may have written it:

    frame.to_parquet("regions.parquet")
    densevse run results/tables/coco_regions.md -- --config 'datasets={"coco": {"boxes": "regions.parquet"}}'

Flickr30k Entities (Plummer et al., ICCV 2015) has the boxes of the phrases in Flickr30k's captions, for research only.
Its folder or archive (annotations.zip of the authors' repository, bryanplummer/flickr30k_entities) holds
`Sentences/<image>.txt`, one caption on each line with its phrases marked, tokens separated by spaces:

    [/EN#283585/people Two young guys] with [/EN#283587/bodyparts shaggy hair] look at their hands .

and `Annotations/<image>.xml` with the boxes of the entities by number.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.archives import Archive
from densevse.artifacts.boxes import drop_unknown_images
from densevse.artifacts.file_names import bare_name, names_by_key
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import TOKENS
from densevse.artifacts.texts import numbered_lines
from densevse.datasets.layout import BOX_COLUMNS, STATED_SIZE
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.schema import ORIGIN


def write_given_boxes(boxes: str, image_table: str, caption_table: str, tokens: str, output: str) -> None:
    """The job that checks the user's `boxes` against the image and caption tables, and writes a BOXES artifact.

    `tokens` are those of the captions (TOKENS), which are cut as the parser cuts them. Raises `InputError` that names
    the first impossible row.
    """
    images, captions = schema.read(image_table, IMAGES), schema.read(caption_table, CAPTIONS)
    if Path(boxes).suffix == ".parquet":
        found = _read_parquet(boxes)
    else:
        cut = schema.read(tokens, TOKENS, ["caption_id", "tokens"])
        found = read_entities(boxes, captions, dict(zip(cut["caption_id"], cut["tokens"], strict=True)))
        _check_orientation(found, images, boxes)
    found = drop_unknown_images(found, images, boxes)
    rows = found[[*BOX_COLUMNS, ORIGIN]]
    check_captions(rows, images, captions, boxes)
    logger.info("%d boxes of %d images", len(rows), rows["image_id"].nunique())
    schema.write(rows, BOXES.bind(images=images), output)


def check_captions(boxes: pd.DataFrame, images: pd.DataFrame, captions: pd.DataFrame, name: str) -> None:
    """Raises `InputError` that names the first row with an impossible caption or tokens, or that is there twice."""
    known_captions = set(zip(captions["caption_id"], captions["image_id"], strict=True)) | {
        ("", image_id) for image_id in images["image_id"]
    }
    caption_known = [key in known_captions for key in zip(boxes["caption_id"], boxes["image_id"], strict=True)]
    named = boxes["caption_id"] != ""
    problems = {
        "its caption is not one of its image": ~pd.Series(caption_known, dtype=bool),
        "its tokens are not a span": named & ~((boxes["start"] >= 0) & (boxes["end"] > boxes["start"])),
        "the same row is there before; keep one": boxes.duplicated(BOX_COLUMNS),
    }
    schema.check_rows(boxes, problems, name)


def _check_orientation(boxes: pd.DataFrame, images: pd.DataFrame, name: str) -> None:
    """Raises `InputError` that names the first image whose stated width and height are swapped."""
    own = images.set_index("image_id")[["width", "height"]].reindex(boxes["image_id"]).reset_index()
    stated = boxes[STATED_SIZE].reset_index(drop=True)
    exchanged = (stated["stated_width"] == own["height"]) & (stated["stated_height"] == own["width"])
    wrong = exchanged & (own["width"] != own["height"])
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        width, height = int(own["width"].iloc[row]), int(own["height"].iloc[row])
        images_turned = own.loc[wrong, "image_id"].nunique()
        raise InputError(
            f"{name}: says that image {own['image_id'].iloc[row]} has {height} x {width} pixels, but upright, as its "
            f"EXIF data say, it has {width} x {height} ({images_turned} such images), so its boxes lie elsewhere. Use "
            "the photograph without its EXIF data."
        )


def _read_parquet(path: str) -> pd.DataFrame:
    try:
        table = pq.read_table(path, columns=BOX_COLUMNS).cast(BOXES.arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, OSError) as error:
        raise InputError(f"{path}: expected a Parquet file with the columns {BOX_COLUMNS}: {error}") from error
    boxes: pd.DataFrame = table.to_pandas()
    return boxes.assign(**{ORIGIN: [f"{path}: row {row}" for row in range(len(boxes))]})


_PHRASE = re.compile(r"\[/EN#(\d+)((?:/[^\s/\]]+)+)")
Box = tuple[float, float, float, float]


class Annotation(NamedTuple):
    """The contents of an annotation file for an image."""

    boxes: dict[str, list[Box]]  # boxes of each entity, by its number: x, y, width, height; pixels from 0
    width: float  # of the image, pixels; NaN if the file does not state it
    height: float


def read_entities(path: str, captions: pd.DataFrame, words: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """BOXES rows of captions (CAPTIONS rows), matched by letters, as spacing and quotes differ between releases.

    `words` has the words of each caption, as the parser cuts it: the published tokens keep "t-shirt" whole, which are
    three words here. Captions of an image with the same letters are matched in order. An entity without a box (a
    scene, or not visible) has no row. The rows also have `stated_width` and `stated_height`, the image's size in its
    annotation. Raises `InputError` if no caption is found, or if an annotation is impossible; the message names it.
    """
    rows: list[tuple[Any, ...]] = []
    found = 0
    with Archive.open(path) as archive:
        keys = {image_id: bare_name(str(image_id)) for image_id in captions["image_id"].unique()}
        wanted = {f"{key}{suffix}" for key in keys.values() for suffix in (".txt", ".xml")}
        named = ((f"{bare_name(name)}{PurePosixPath(name).suffix.lower()}", name) for name in archive.names())
        files = names_by_key((one for one in named if one[0] in wanted), path)
        # One file cannot tell cat/001.jpg from dog/001.jpg.
        names_by_key(((f"{key}.txt", image_id) for image_id, key in keys.items() if f"{key}.txt" in files), path)
        for image_id, own in progress(captions.groupby("image_id", sort=False), "Flickr30k Entities"):
            text, boxes = (files.get(f"{keys[image_id]}{suffix}", "") for suffix in (".txt", ".xml"))
            if not (text and boxes):
                continue
            annotation = read_annotation(archive.read(boxes), boxes)
            by_letters: dict[str, list[str]] = defaultdict(list)
            for sentence, caption_id in zip(own["text"], own["caption_id"], strict=True):
                by_letters[letters(sentence)].append(caption_id)
            for _, line in numbered_lines(archive.read(text), text, "utf-8"):
                tokens, phrases = read_sentence(line)
                caption_ids = by_letters[letters(" ".join(tokens))]
                if caption_ids:
                    found += 1
                    caption_id, of_image = caption_ids.pop(0), (annotation.width, annotation.height, f"{path}: {boxes}")
                    rows += [
                        (str(image_id), caption_id, phrase, start, end, *box, *of_image)
                        for entity, phrase, start, end in place_phrases(tokens, phrases, words[caption_id])
                        for box in annotation.boxes.get(entity, [])
                    ]
    if not found:
        raise InputError(f"{path}: none of the {len(captions)} captions is in it; is this Flickr30k Entities?")
    logger.info("%d of %d captions found", found, len(captions))
    return pd.DataFrame(rows, columns=[*BOX_COLUMNS, *STATED_SIZE, ORIGIN])


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


def place_phrases(
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
    boxes: dict[str, list[Box]] = defaultdict(list)
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

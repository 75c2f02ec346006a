"""People's judgements of pairs of an image and a sentence of Flickr8k (Hodosh et al., JAIR 2013), and scores of pairs.

`ExpertAnnotations.txt` has on each line an image, a caption's id and three ratings from 1 to 4;
`CrowdFlowerAnnotations.txt` an image, a caption's id, the share of yes, and the numbers of yes and no. Both separate by
tabs, and are in the official archive of texts.
"""

import math
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa

from densevse.artifacts.columns import CAPTION_ID, IMAGE_ID
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.datasets.layout import read_lines
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema

JUDGEMENTS = Schema(
    "judgements",
    "a judgement of how well a sentence describes an image",
    (
        IMAGE_ID,
        CAPTION_ID,
        Column("by", TEXT, "experts (one row for each of three) or crowd (one row for all)"),
        Column("rating", REAL, "experts: from 1 (does not describe it) to 4 (describes it); crowd: share of yes"),
    ),
)

PAIR_SCORES = Schema(
    "pair_scores",
    "an image and a sentence",
    (
        IMAGE_ID,
        CAPTION_ID,
        Column("score", pa.float64(), "the method's score of the two, higher is closer"),
        Column(
            "centred",
            pa.float64(),
            "score, minus the image's mean over all sentences of the split and the sentence's mean over all images",
            nullable=True,
        ),
    ),
)

CROWD_RANKS = Schema(
    "crowd_ranks",
    "a query of the test split, where the crowd's positives are right answers too",
    (
        Column("direction", TEXT, "i2t or t2i"),
        Column("image", NUMBER, "the number of the query's image in the test split"),
        Column("rank", pa.int64(), "of the first right answer among all candidates; ties count against the query"),
    ),
)

SHARE_OF_YES = 2 / 3 - 1e-6
"""The share of yes from which the crowd calls a sentence a description of an image; stored shares are rounded."""

EXPERTS, CROWD = "ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt"
_LINES = {
    EXPERTS: ("experts", 5, "an image, a caption's id and three ratings from 1 to 4"),
    CROWD: ("crowd", 5, "an image, a caption's id, the share of yes, and the numbers of yes and no"),
}


def write_judgements(text: str, images: str, captions: str, output: str) -> None:
    """The job that writes the judgements of the test split, from the archive or folder `text`, as JUDGEMENTS."""
    table = schema.read(images, IMAGES, ["image_id", "split", "status"])
    readable = table.loc[(table["split"] == "test") & (table["status"] == "ok"), "image_id"]
    known = schema.read(captions, CAPTIONS, ["caption_id", "image_id"])
    found = read_judgements(text, known[known["image_id"].isin(readable)])
    schema.write(found.astype({"rating": "float32"}), JUDGEMENTS, output)


def read_judgements(text: str, captions: pd.DataFrame) -> pd.DataFrame:
    """JUDGEMENTS rows; of experts without pairs of an image and its own caption, as usual (16,992 remain).

    `captions` has the columns caption_id and image_id of the test split. Raises `InputError` for an invalid line, and
    if no pair is of that split.
    """
    rows = [row for file in _LINES for row in _parse_ratings(text, file)]
    found = pd.DataFrame(rows, columns=[column.name for column in JUDGEMENTS.columns])
    owner = found["caption_id"].map(captions.set_index("caption_id")["image_id"])
    known = owner.notna() & found["image_id"].isin(captions["image_id"])
    if not known.any():
        raise InputError(f"{text}: none of the {len(found)} judgements is of an image and a caption of the test split.")
    if not known.all():
        logger.warning("%d judgements are of images or captions that are not in the test split", (~known).sum())
    own = known & (owner == found["image_id"]) & (found["by"] == "experts")
    logger.info("%d judgements by experts of an image's own captions are left out", own.sum())
    return found[known & ~own].reset_index(drop=True)


def _parse_ratings(text: str, file: str) -> Iterator[tuple[str, str, str, float]]:
    by, count, expected = _LINES[file]
    lines: dict[tuple[str, str], int] = {}
    for number, line in read_lines(text, file):
        parts = line.split("\t")
        try:
            values = [float(part) for part in parts[2:]]
        except ValueError:
            values = []
        if len(parts) != count or not _is_right(by, values):
            raise InputError(f"{text}, {file}, line {number}: expected {expected}, found {line[:80]!r}.")
        first = lines.setdefault((parts[0], parts[1]), number)
        if first < number:
            raise InputError(f"{text}, {file}, line {number}: {parts[:2]} is judged in line {first} too; keep one.")
        for rating in values if by == "experts" else values[:1]:
            yield parts[0], parts[1], by, rating


def _is_right(by: str, values: list[float]) -> bool:
    if len(values) != 3 or not all(math.isfinite(value) for value in values):
        return False
    return all(value in (1, 2, 3, 4) for value in values) if by == "experts" else 0 <= values[0] <= 1

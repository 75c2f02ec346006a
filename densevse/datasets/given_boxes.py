"""Reads a user's true boxes for a data set: a Parquet file in the documented format, or Flickr30k Entities.

The Parquet file has the columns of the BOXES schema (densevse/artifacts/schemas/datasets.py): image_id, caption_id,
phrase, start, end (token indices in the caption's parse), x, y, width, height (pixels of the upright image). A phrase
may have several boxes. Any program may have written it:

    frame.to_parquet("regions.parquet")
    snakemake --config 'datasets={"coco": {"boxes": "regions.parquet"}}' results/tables/coco_regions.md
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import TOKENS
from densevse.datasets.entities import read_entities
from densevse.datasets.true_boxes import check_inside, check_rows
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

_COLUMNS = [column.name for column in BOXES.columns]


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
        _check_not_turned(found, images, boxes)
    check(found[_COLUMNS], images, captions, boxes)
    logger.info("%d boxes of %d images", len(found), found["image_id"].nunique())
    parents = {"images": image_table, "captions": caption_table, "tokens": tokens}
    schema.write(found[_COLUMNS], BOXES, output, lineage({"given": Path(boxes).name}, parents))


def check(boxes: pd.DataFrame, images: pd.DataFrame, captions: pd.DataFrame, name: str) -> None:
    """Raises `InputError` that names the first row with an impossible image, caption, tokens or box."""
    known_captions = set(zip(captions["caption_id"], captions["image_id"], strict=True)) | {
        ("", image_id) for image_id in images["image_id"]
    }
    caption_known = [key in known_captions for key in zip(boxes["caption_id"], boxes["image_id"], strict=True)]
    named = boxes["caption_id"] != ""
    problems = {
        "its image is not in the image table": ~boxes["image_id"].isin(images["image_id"]),
        "its caption is not one of its image": ~pd.Series(caption_known, dtype=bool),
        "its tokens are not a span": named & ~((boxes["start"] >= 0) & (boxes["end"] > boxes["start"])),
    }
    check_rows(boxes, problems, name)
    check_inside(boxes, images, name)


def _check_not_turned(boxes: pd.DataFrame, images: pd.DataFrame, name: str) -> None:
    """Raises `InputError` that names the first image whose stated width and height are swapped."""
    own = images.set_index("image_id")[["width", "height"]].reindex(boxes["image_id"]).reset_index()
    stated = boxes[["stated_width", "stated_height"]].reset_index(drop=True)
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
        table = pq.read_table(path, columns=_COLUMNS).cast(BOXES.arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, OSError) as error:
        raise InputError(f"{path}: expected a Parquet file with the columns {_COLUMNS}: {error}") from error
    boxes: pd.DataFrame = table.to_pandas()
    return boxes

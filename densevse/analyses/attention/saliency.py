"""A model's attention in an image and its sentence, step by step, and how much of it is in true boxes (sm-LSTM, 4.6).

The paper shows pictures; with true boxes of phrases, these can be measured. The score of a step that attends to "dog"
and "red" is the share of its saliency in the boxes of phrases with these words. A uniform map and a blob in the centre,
where things are in most pictures (Figure 6), are baselines.
"""

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
import pandas as pd

from densevse.artifacts.boxes import BOX, covered_shares
from densevse.artifacts.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import interval_of_mean
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema

_WORDS_NAMED = 2  # the number of most salient words that are named, as in the paper of sm-LSTM
_BLOB = 0.25  # the standard deviation of the central blob, as a share of the image's sides
_MAPS = ("share", "chance", "blob")

SALIENCY = Schema(
    "saliency",
    "a place (a cell or a region) of an image, or a word of its sentence, at a step of the model",
    (
        IMAGE_ID,
        CAPTION_ID,
        Column(
            "step", NUMBER, "the step, from 1: the model's own; or the word or place that attends, whose weight is 1"
        ),
        Column(
            "place",
            NUMBER,
            "the cell's number, line after line from the top left; the region's; or the word's, from 0",
        ),
        Column("word", TEXT, "the word; empty for a place"),
        *(
            Column(column.name, column.type, f"{column.meaning}; 0 for a word, and where a region's box is not known")
            for column in BOX_COLUMNS
        ),
        Column(
            "weight", REAL, "its saliency: those of an image's places, and of a sentence's words, sum to 1 in a step"
        ),
    ),
)

SALIENCY_SCORE = Schema(
    "saliency_score",
    "a step of the model, or all of them",
    (
        Column("step", NUMBER, "the step, from 1; 0 for all steps together"),
        Column(
            "share", REAL, "share of the saliency in the true boxes of the step's most salient words, mean over pairs"
        ),
        Column("chance", REAL, "the same of a uniform map"),
        Column("blob", REAL, "the same of a blob in the centre of the image: a Gaussian, a quarter of the side wide"),
        Column("over_chance", REAL, "share minus chance"),
        Column("over_chance_low", REAL, "lower end of its 95% interval over families of images", nullable=True),
        Column("over_chance_high", REAL, "upper end of it", nullable=True),
        Column("over_blob", REAL, "share minus blob"),
        Column("over_blob_low", REAL, "lower end of its 95% interval over families of images", nullable=True),
        Column("over_blob_high", REAL, "upper end of it", nullable=True),
        Column("images", NUMBER, "images of which a true box was known for one of these words"),
    ),
)


def select_places(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of cells or regions. Raises `InputError` if a region's box is unknown."""
    places = rows[rows["word"] == ""]
    unknown = places.loc[places["width"] <= 0, "image_id"]
    if len(unknown):
        raise InputError(
            f"saliency of {unknown.iloc[0]}: its regions have no boxes, so the places of attention are unknown; give "
            "the boxes with the data set's features."
        )
    return places


def salient_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of at most `_WORDS_NAMED` most salient words of one step, in their order."""
    words = rows[(rows["word"] != "") & (rows["weight"] > 0)]
    return words.nlargest(_WORDS_NAMED, "weight", keep="all")[:_WORDS_NAMED].sort_values("place")


def write_score(saliency: str, boxes: str, image_table: str, output: str) -> None:
    """The job that compares SALIENCY rows with true boxes, and writes SALIENCY_SCORE rows."""
    rows = score(schema.read(saliency, SALIENCY), schema.read(boxes, BOXES), schema.read(image_table, IMAGES))
    logger.info("\n%s", rows.to_string(index=False))
    schema.write(rows, SALIENCY_SCORE, output)


def score(saliency: pd.DataFrame, boxes: pd.DataFrame, images: pd.DataFrame) -> pd.DataFrame:
    """SALIENCY_SCORE rows: each step, and all together (step 0).

    A step of an image counts if one of its most salient words is in a phrase with a true box. Intervals are of the mean
    over `images` (IMAGES rows), drawn by families. Raises `InputError` if no word is in such a phrase.
    """
    images = images.set_index("image_id")
    sizes = dict(zip(images.index, images[["width", "height"]].to_numpy(float), strict=True))
    shares = pd.DataFrame(_shares(saliency, boxes[boxes["start"] >= 0], sizes), columns=["image_id", "step", *_MAPS])
    if shares.empty:
        raise InputError("no salient word is in a phrase with a true box: the boxes are of other captions.")
    of_steps = [(0, shares), *shares.groupby("step")]
    return pd.DataFrame([{"step": step, **_summary(rows, images["family"])} for step, rows in of_steps])


def _shares(
    saliency: pd.DataFrame, boxes: pd.DataFrame, sizes: Mapping[str, Reals]
) -> Iterator[tuple[str, int, float, float, float]]:
    """The shares of the saliency, of a uniform map and of a central blob, for each image and step with a known box."""
    of_captions = {str(caption_id): rows for caption_id, rows in boxes.groupby("caption_id")}
    for key, rows in saliency.groupby(["image_id", "caption_id", "step"], sort=False):
        image_id, caption_id, step = cast(tuple[str, str, int], key)
        phrases = of_captions.get(caption_id)
        if phrases is None:
            continue
        salient = salient_words(rows)["place"].to_numpy()
        starts, ends = phrases["start"].to_numpy()[:, None], phrases["end"].to_numpy()[:, None]
        true = phrases[((starts <= salient) & (salient < ends)).any(axis=1)]
        if not true.empty:
            places = select_places(rows)
            of_places = places[BOX].to_numpy(float)
            inside = covered_shares(of_places, true[BOX].to_numpy(float))
            weight = places["weight"].to_numpy(float)
            blob = central_blob(of_places, sizes[image_id])
            yield image_id, step, float(inside @ weight), float(inside.mean()), float(inside @ blob)


def central_blob(boxes: Reals, size: Reals) -> Reals:
    """A map of places (n, 4) whose weights fall with the distance of their centres from the image's and sum to 1.

    `size` is the image's width and height.
    """
    centre: Reals = (boxes[:, :2] + boxes[:, 2:] / 2) / size - 0.5
    blob: Reals = np.exp(-0.5 * (centre / _BLOB) ** 2).prod(axis=1)
    blob /= blob.sum()
    return blob


def _summary(shares: pd.DataFrame, families: pd.Series) -> dict[str, float]:
    of_images = shares.groupby("image_id")[list(_MAPS)].mean()
    found = {**{name: float(of_images[name].mean()) for name in _MAPS}, "images": len(of_images)}
    for other in ("chance", "blob"):
        gain = (of_images["share"] - of_images[other]).to_numpy()
        low, high = interval_of_mean(gain, families[of_images.index])
        found |= {f"over_{other}": float(gain.mean()), f"over_{other}_low": low, f"over_{other}_high": high}
    return found

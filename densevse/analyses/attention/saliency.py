"""A model's attention in an image and its sentence, step by step, and its score against true boxes."""

import pandas as pd

from densevse.artifacts.schema import BOX_COLUMNS, CAPTION_ID, IMAGE_ID, NUMBER, REAL, TEXT, Column, Schema
from densevse.runtime.errors import InputError

WORDS_NAMED = 2  # the number of most salient words that are named, as in the paper of sm-LSTM

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


def places_of(rows: pd.DataFrame) -> pd.DataFrame:
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
    """The rows of at most `WORDS_NAMED` most salient words of one step, in their order."""
    words = rows[(rows["word"] != "") & (rows["weight"] > 0)]
    return words.nlargest(WORDS_NAMED, "weight", keep="all")[:WORDS_NAMED].sort_values("place")

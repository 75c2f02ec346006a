"""SALIENCY rows, taken apart: places of images and words of sentences."""

import pandas as pd

from densevse.runtime.errors import InputError

WORDS_NAMED = 2  # the most salient words of a step that are named: the paper of sm-LSTM shows as many


def places_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of cells or regions. Raises `InputError` if a region's box is not known."""
    places = rows[rows["word"] == ""]
    unknown = places.loc[places["width"] <= 0, "image_id"]
    if len(unknown):
        raise InputError(
            f"saliency of {unknown.iloc[0]}: its regions have no boxes, so where the model looks cannot be told; give "
            "the boxes with the data set's features."
        )
    return places


def salient_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the words of one step that have the most of its saliency, at most `WORDS_NAMED`, in their order."""
    words = rows[(rows["word"] != "") & (rows["weight"] > 0)]
    return words.nlargest(WORDS_NAMED, "weight", keep="all")[:WORDS_NAMED].sort_values("place")

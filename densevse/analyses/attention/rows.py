"""Divides SALIENCY rows into places of images and words of sentences."""

import pandas as pd

from densevse.runtime.errors import InputError

WORDS_NAMED = 2  # the number of most salient words that are named, as in the paper of sm-LSTM


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

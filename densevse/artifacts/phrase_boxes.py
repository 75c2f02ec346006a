"""The region that each phrase of a BOXES artifact is about."""

import pandas as pd

from densevse.artifacts.boxes import BOX

PHRASE = ["caption_id", "start", "end"]


def phrase_boxes(boxes: pd.DataFrame) -> pd.DataFrame:
    """A row a phrase: image_id, caption_id, start, end, phrase and the box around all its boxes ("two people").

    `boxes` holds BOXES rows; those without caption are left out. Float32 pixels, in the order of first mention.
    """
    named = boxes[boxes["start"] >= 0]
    corners = named.assign(right=named["x"] + named["width"], bottom=named["y"] + named["height"])
    around = corners.groupby(PHRASE, sort=False).agg(
        image_id=("image_id", "first"),
        phrase=("phrase", "first"),
        x=("x", "min"),
        y=("y", "min"),
        right=("right", "max"),
        bottom=("bottom", "max"),
    )
    around = around.assign(width=around["right"] - around["x"], height=around["bottom"] - around["y"])
    return around.reset_index()[["image_id", *PHRASE, "phrase", *BOX]].astype(dict.fromkeys(BOX, "float32"))

"""The true region of each phrase in a BOXES artifact, and the phrases and classes of boxes."""

import pandas as pd

from densevse.artifacts.boxes import BOX

PHRASE = ["caption_id", "start", "end"]
PHRASES_AT_ONCE = 20_000  # phrases whose pairs of boxes and regions are in memory at a time
RIGHT_OVERLAP = 0.5  # least intersection over union of a right region with a true box
TRUE_BOX = [f"true_{name}" for name in BOX]


def true_boxes_of_phrases(boxes: pd.DataFrame) -> pd.DataFrame:
    """The phrases of BOXES rows with each of their true boxes, in columns that can join those of another box."""
    of_phrases = boxes[boxes["start"] >= 0].rename(columns=dict(zip(BOX, TRUE_BOX, strict=True)))
    return of_phrases[PHRASE + TRUE_BOX]


def phrase_boxes(boxes: pd.DataFrame) -> pd.DataFrame:
    """One row for each phrase: image_id, caption_id, start, end, phrase, and the box around all its boxes.

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


def named_boxes(boxes: pd.DataFrame) -> pd.DataFrame:
    """A row for each box that a phrase names: image_id, phrase in lower case, and the box.

    `boxes` holds BOXES rows. Phrases are those of the sentences; if none has a box, the names of objects' classes.
    """
    of_sentences = boxes["start"] >= 0
    named = boxes[of_sentences] if of_sentences.any() else boxes
    named = named.assign(phrase=named["phrase"].str.lower())
    return named[["image_id", "phrase", *BOX]].drop_duplicates(ignore_index=True)

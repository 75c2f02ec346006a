"""How much of each step's saliency lies in the true boxes of its most salient words (sm-LSTM, section 4.6).

The paper shows pictures; where phrases have true boxes, what they show can be counted. A step that attends to "dog" and
"red" is right as far as its cells lie in the boxes of the phrases with these words. A uniform map and a blob in the
centre, where things are in most pictures (Figure 6), say what is not the model's merit.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from densevse.analyses.attention.schemas import SALIENCY, SALIENCY_SCORE
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX, covered
from densevse.artifacts.families import families_of
from densevse.artifacts.schemas.datasets import BOXES
from densevse.runtime.arrays import Reals
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger
from densevse.statistics.bootstrap import interval_of_mean

_WORDS = 2  # the paper shows the two most salient ones of each step
BLOB = 0.25  # the width (standard deviation) of the central blob, of the grid's side


def write_score(saliency: str, boxes: str, images: str, output: str, made_from: Mapping[str, Any]) -> None:
    """Compare SALIENCY rows with true boxes, and write SALIENCY_SCORE rows. `images` is the data set's IMAGES."""
    rows = score(schema.read(saliency, SALIENCY), schema.read(boxes, BOXES), families_of(images))
    logger.info("\n%s", rows.to_string(index=False))
    schema.write(rows, SALIENCY_SCORE, output, made_from)


def score(saliency: pd.DataFrame, boxes: pd.DataFrame, families: pd.Series) -> pd.DataFrame:
    """SALIENCY_SCORE rows: each step, and all together (step 0).

    A step of an image counts where one of its `WORDS` most salient words is in a phrase with a true box. Intervals are
    of the mean over images, drawn in their `families` (by image). Raises `InputError` if no word is in such a phrase.
    """
    shares = pd.DataFrame(_shares(saliency, boxes[boxes["start"] >= 0]), columns=["image_id", "step", *MAPS])
    if shares.empty:
        raise InputError("no salient word is in a phrase with a true box: the boxes are of other captions.")
    of_steps = [(0, shares), *shares.groupby("step")]
    return pd.DataFrame([{"step": step, **_summary(rows, families)} for step, rows in of_steps])


MAPS = ("share", "chance", "blob")


def _shares(saliency: pd.DataFrame, boxes: pd.DataFrame) -> Iterator[tuple[str, int, float, float, float]]:
    """For each image and step with a known box: the shares of the saliency, of a uniform map and of a central blob."""
    of_captions = {str(caption_id): rows for caption_id, rows in boxes.groupby("caption_id")}
    for key, rows in saliency.groupby(["image_id", "caption_id", "step"], sort=False):
        image_id, caption_id, step = cast(tuple[str, str, int], key)
        is_word = rows["word"] != ""
        salient = rows[is_word].nlargest(_WORDS, "weight", keep="all")["place"].to_numpy()[:_WORDS]
        phrases = of_captions.get(caption_id)
        if phrases is None:
            continue
        starts, ends = phrases["start"].to_numpy()[:, None], phrases["end"].to_numpy()[:, None]
        true = phrases[((starts <= salient) & (salient < ends)).any(axis=1)]
        if not true.empty:
            cells = rows[~is_word].sort_values("place")
            inside = covered(cells[BOX].to_numpy(float), true[BOX].to_numpy(float))
            weight = cells["weight"].to_numpy(float)
            blob = central_blob(len(cells))
            yield image_id, step, float(inside @ weight), float(inside.mean()), float(inside @ blob)


def central_blob(cells: int) -> Reals:
    """A map (cells,) of a square grid whose weights fall with the distance from its centre; they sum to 1."""
    side = round(cells**0.5)
    place = (np.arange(side) + 0.5) / side - 0.5
    line = np.exp(-0.5 * (place / BLOB) ** 2)
    blob: Reals = np.outer(line, line).ravel()
    blob /= blob.sum()
    return blob


def _summary(shares: pd.DataFrame, families: pd.Series) -> dict[str, float]:
    of_images = shares.groupby("image_id")[list(MAPS)].mean()
    found = {**{name: float(of_images[name].mean()) for name in MAPS}, "images": len(of_images)}
    for other in ("chance", "blob"):
        gain = (of_images["share"] - of_images[other]).to_numpy()
        low, high = interval_of_mean(gain, families[of_images.index])
        found |= {f"over_{other}": float(gain.mean()), f"over_{other}_low": low, f"over_{other}_high": high}
    return found

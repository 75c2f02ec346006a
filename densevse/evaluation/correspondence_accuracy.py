"""The accuracy of learned correspondences on phrases with known true boxes (HM-LSTM, section 5.3.2).

In the paper people judge a sample (82% correct). Here a region is right if it overlaps a true box of its phrase by at
least half. The correspondences of round t are those that round t is trained on, so the model of round t - 1 makes them.
The last model's correspondences count as one more round, which needs no training.
"""

from collections.abc import Sequence

import pandas as pd

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.phrase_boxes import PHRASE, PHRASES_AT_ONCE, RIGHT_OVERLAP, TRUE_BOX, true_boxes_of_phrases
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY, CORRESPONDENCES, REGION_FEATURES
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.store import FeatureStore


def write_accuracy(correspondences: str, boxes: str, regions: Sequence[str], candidates: str, output: str) -> None:
    """The job that compares correspondences with true boxes, and writes CORRESPONDENCE_ACCURACY rows of their round.

    `boxes` has BOXES rows, `regions` are the shards of REGION_FEATURES. Raises `InputError` as `accuracy` does.
    """
    learned = schema.read(correspondences, CORRESPONDENCES)
    true = schema.read(boxes, BOXES)
    rows = accuracy(learned, true, FeatureStore(regions, REGION_FEATURES).rows, candidates)
    logger.info("\n%s", rows.to_string(index=False))
    schema.write(rows, CORRESPONDENCE_ACCURACY, output)


def accuracy(learned: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame, candidates: str) -> pd.DataFrame:
    """CORRESPONDENCE_ACCURACY rows: the learned choice, with the whole image, chance and the best possible.

    `learned` holds CORRESPONDENCES rows, `true` BOXES rows, `regions` REGION_FEATURES rows. Only phrases with a true
    box (of the same caption and tokens) count; if a phrase has several, the best overlap counts. Chance and the best
    possible choose among the `candidates` of the method: detections, if the image has any, or all regions.

    Raises `InputError` if no phrase has a true box.
    """
    true = true_boxes_of_phrases(true)
    known = learned[PHRASE].drop_duplicates().merge(true[PHRASE].drop_duplicates(), on=PHRASE)
    if known.empty:
        raise InputError(
            f"none of the {len(learned)} phrases has a true box: captions and tokens of the boxes are others'."
        )
    learned = learned.merge(known, on=PHRASE).reset_index(names="phrase_number")
    regions = _mark_candidates(regions[["image_id", "rank", *BOX]], candidates)
    parts = [
        _overlaps(learned.iloc[first : first + PHRASES_AT_ONCE], true, regions)
        for first in range(0, len(learned), PHRASES_AT_ONCE)
    ]
    by_phrase = pd.concat(parts)
    return pd.DataFrame(
        [
            {
                "choice": choice,
                "accuracy": by_phrase[f"{choice} right"].mean(),
                "overlap": by_phrase[f"{choice} overlap"].mean(),
                "phrases": len(by_phrase),
            }
            for choice in ("learned", "whole image", "chance", "best possible")
        ]
    )


def _mark_candidates(regions: pd.DataFrame, candidates: str) -> pd.DataFrame:
    alone = regions.groupby("image_id")["rank"].transform("max") == 0
    return regions.assign(candidate=(regions["rank"] > 0) | alone | (candidates == "all"))


def _overlaps(learned: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """A row for each phrase: the overlap of each choice, and whether it is right (for chance: how often)."""
    pairs = learned[["phrase_number", "image_id", "region", *PHRASE]].merge(true, on=PHRASE)
    pairs = pairs.merge(regions, on="image_id")
    pairs["overlap"] = intersection_over_union(pairs[BOX].to_numpy(float), pairs[TRUE_BOX].to_numpy(float))
    keys = ["phrase_number", "rank", "candidate", "region"]
    best = pairs.groupby(keys, as_index=False)["overlap"].max()
    best["right"] = best["overlap"] >= RIGHT_OVERLAP
    by_choice = {
        "learned": best[best["rank"] == best["region"]],
        "whole image": best[best["rank"] == 0],
        "chance": best[best["candidate"]],
        "best possible": best[best["candidate"]],
    }
    columns: dict[str, pd.Series] = {}
    for choice, rows in by_choice.items():
        grouped = rows.groupby("phrase_number")[["overlap", "right"]]
        found = grouped.max() if choice == "best possible" else grouped.mean()
        columns |= {f"{choice} overlap": found["overlap"], f"{choice} right": found["right"].astype(float)}
    return pd.DataFrame(columns)

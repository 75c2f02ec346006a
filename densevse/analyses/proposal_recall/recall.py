"""The coverage of real objects by proposals: average best overlap and recall (Hosang et al., PAMI 2016).

An object counts once, however many phrases name it. Intervals are 95% intervals of a bootstrap over images, each with
all its objects, or over families of images.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.families import read_families
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.proposals import BOX_COUNTS, PROPOSALS, SEGMENT_OVERLAP
from densevse.statistics.bootstrap import interval_of_mean
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, Column, Schema

PERCENT = (50, 70, 85)
"""The least overlaps at which a true box counts as found, as MCG's authors publish them."""


def _metric_columns(name: str, meaning: str, nullable: bool = False) -> tuple[Column, ...]:
    """A measured metric, and the ends of its 95% interval."""
    ends = (("low", "begin"), ("high", "end"))
    return (
        Column(name, REAL, meaning, nullable),
        *(Column(f"{name}_{end}", REAL, f"the {word} of its 95% interval", nullable=True) for end, word in ends),
    )


PROPOSAL_RECALL = Schema(
    "proposal_recall",
    "a number of boxes per image",
    (
        Column(
            "boxes", NUMBER, "the number of boxes of each image that are evaluated, in rank order; 0 means all of them"
        ),
        Column("boxes_mean", REAL, "how many boxes there were per image, mean"),
        *_metric_columns("average_best_overlap", "mean over true boxes of the best intersection over union"),
        *(
            column
            for percent in PERCENT
            for column in _metric_columns(
                f"recall_{percent}", f"share of true boxes overlapped by at least {percent / 100}"
            )
        ),
        *_metric_columns(
            "segment_jaccard",
            "mean over objects of the best Jaccard of as many segments; null where masks are not known",
            nullable=True,
        ),
        Column("true_boxes", NUMBER, "how many true boxes"),
        Column("images", NUMBER, "how many images have true boxes"),
    ),
    version=3,
)


def write_recall(
    proposals: Sequence[str],
    boxes: str,
    image_table: str,
    output: str,
    segment_overlap: Sequence[str] = (),
) -> None:
    """The job that measures the recall of a proposer's boxes, and of its segments if their overlaps are known.

    `proposals` and `segment_overlap` are shards. Raises `InputError` if there is no true box.
    """
    overlap = schema.read_all(segment_overlap, SEGMENT_OVERLAP) if segment_overlap else None
    families = {str(image_id): str(family) for image_id, family in read_families(image_table).items()}
    found = recall(schema.read_all(proposals, PROPOSALS), schema.read(boxes, BOXES), families, overlap)
    schema.write(found, PROPOSAL_RECALL, output)


def recall(
    proposals: pd.DataFrame,
    true_boxes: pd.DataFrame,
    families: Mapping[str, str],
    segment_overlap: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The overlap of objects with the best of each of BOX_COUNTS proposals of an image (PROPOSAL_RECALL).

    `true_boxes` are BOXES, `families` has the family of each image, and `segment_overlap` (SEGMENT_OVERLAP) has the
    overlaps of segments with the objects' masks, if these are known. An image without proposals counts with an overlap
    of 0. Raises `InputError` if there is no true box.
    """
    if true_boxes.empty:
        raise InputError("there is no true box to compare the proposals with: use a data set that has boxes.")
    found = {str(image_id): group for image_id, group in proposals.groupby("image_id", sort=False)}
    nothing = proposals.iloc[:0]
    objects = _objects(true_boxes).groupby("image_id", sort=False)
    family = [families[str(image_id)] for image_id, _ in objects]
    pairs = [
        (found.get(str(image_id), nothing)[BOX].to_numpy(np.float32), group[BOX].to_numpy(np.float32))
        for image_id, group in objects
    ]
    rows = [
        {**_box_metrics(pairs, family, count), **_segment_metrics(segment_overlap, families, count)}
        for count in BOX_COUNTS
    ]
    return pd.DataFrame(rows)


def _objects(true_boxes: pd.DataFrame) -> pd.DataFrame:
    """The boxes of the objects; of a data set that has boxes of phrases alone, the distinct ones among these."""
    of_objects = true_boxes[true_boxes["start"] < 0]
    return true_boxes.drop_duplicates(["image_id", *BOX]) if of_objects.empty else of_objects


def _box_metrics(pairs: Sequence[tuple[NDArray[np.float32], ...]], family: Sequence[str], count: int) -> dict[str, Any]:
    proposed = [boxes[: count or None] for boxes, _ in pairs]
    best = [
        intersection_over_union(true[:, None], boxes[None]).max(axis=1, initial=0)
        for boxes, (_, true) in zip(proposed, pairs, strict=True)
    ]
    return {
        "boxes": count,
        "boxes_mean": float(np.mean([len(boxes) for boxes in proposed])),
        **_mean_with_interval("average_best_overlap", best, family),
        **{
            key: value
            for percent in PERCENT
            for key, value in _mean_with_interval(
                f"recall_{percent}", [one >= percent / 100 for one in best], family
            ).items()
        },
        "true_boxes": sum(map(len, best)),
        "images": len(pairs),
    }


def _segment_metrics(segment_overlap: pd.DataFrame | None, families: Mapping[str, str], count: int) -> dict[str, float]:
    """The best Jaccards of a number of segments with the objects."""
    if segment_overlap is None:
        return _mean_with_interval("segment_jaccard", [], [])
    images = segment_overlap[segment_overlap["segments"] == count].groupby("image_id", sort=False)
    jaccards = [group["jaccard"].to_numpy() for _, group in images]
    return _mean_with_interval("segment_jaccard", jaccards, [families[str(image_id)] for image_id, _ in images])


def _mean_with_interval(name: str, of_images: Sequence[NDArray[Any]], family: Sequence[str]) -> dict[str, float]:
    """The mean over the objects of all images, whose families are given, and its interval; all NaN without images."""
    if not of_images:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
    values = np.concatenate(of_images).astype(np.float64)
    low, high = interval_of_mean(values, np.repeat(np.asarray(family, object), list(map(len, of_images))))
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}

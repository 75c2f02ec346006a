"""The coverage of real objects by proposals: average best overlap and recall (Hosang et al., PAMI 2016).

Intervals are 95% intervals of a bootstrap over images, each with all its objects.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.schemas.proposals import BOX_COUNTS, PERCENT
from densevse.runtime.errors import InputError
from densevse.statistics.bootstrap import interval_of_mean


def recall(
    proposals: pd.DataFrame, true_boxes: pd.DataFrame, segment_overlap: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The overlap of true boxes with the best of each of BOX_COUNTS proposals of an image (PROPOSAL_RECALL).

    `segment_overlap` (SEGMENT_OVERLAP) has the overlaps of segments with the objects' masks, if these are known. An
    image without proposals counts with an overlap of 0. Raises `InputError` if there is no true box.
    """
    if true_boxes.empty:
        raise InputError("there is no true box to compare the proposals with: use a data set that has boxes.")
    found = {str(image_id): group for image_id, group in proposals.groupby("image_id", sort=False)}
    nothing = proposals.iloc[:0]
    pairs = [
        (found.get(str(image_id), nothing)[BOX].to_numpy(np.float32), group[BOX].to_numpy(np.float32))
        for image_id, group in true_boxes.groupby("image_id", sort=False)
    ]
    return pd.DataFrame([_row(pairs, count, segment_overlap) for count in BOX_COUNTS])


def _row(
    pairs: Sequence[tuple[NDArray[np.float32], ...]], count: int, segment_overlap: pd.DataFrame | None
) -> dict[str, Any]:
    proposed = [boxes[: count or None] for boxes, _ in pairs]
    best = [
        intersection_over_union(true[:, None], boxes[None]).max(axis=1, initial=0)
        for boxes, (_, true) in zip(proposed, pairs, strict=True)
    ]
    return {
        "boxes": count,
        "boxes_mean": float(np.mean([len(boxes) for boxes in proposed])),
        **_mean("average_best_overlap", best),
        **{
            key: value
            for percent in PERCENT
            for key, value in _mean(f"recall_{percent}", [one >= percent / 100 for one in best]).items()
        },
        **_mean("segment_jaccard", _jaccards(segment_overlap, count)),
        "true_boxes": sum(map(len, best)),
        "images": len(pairs),
    }


def _jaccards(segment_overlap: pd.DataFrame | None, count: int) -> list[NDArray[Any]]:
    """The best Jaccards of a number of segments with the objects of each image."""
    if segment_overlap is None:
        return []
    rows = segment_overlap[segment_overlap["segments"] == count]
    return [group["jaccard"].to_numpy() for _, group in rows.groupby("image_id", sort=False)]


def _mean(name: str, of_images: Sequence[NDArray[Any]]) -> dict[str, float]:
    """The mean over the objects of all images, and its interval; all NaN without images."""
    if not of_images:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
    values = np.concatenate(of_images).astype(np.float64)
    low, high = interval_of_mean(values, np.repeat(np.arange(len(of_images)), list(map(len, of_images))))
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}

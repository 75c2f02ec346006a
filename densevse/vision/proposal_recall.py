"""How well proposals cover real boxes: average best overlap and recall (Hosang et al., PAMI 2016)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.errors import InputError

COUNTS = (100, 300, 500, 1000, 0)  # boxes an image that are looked at; 0 for all
PERCENT = (50, 70, 85)  # least overlaps with which a true box counts as found, as MCG's authors publish them


def recall(proposals: pd.DataFrame, true_boxes: pd.DataFrame) -> pd.DataFrame:
    """For each of COUNTS, how the best of so many proposals an image overlap the true boxes (PROPOSAL_RECALL).

    An image without proposals counts with an overlap of 0. Raises `InputError` if there is no true box.
    """
    if true_boxes.empty:
        raise InputError("there is no true box to hold the proposals against: use a data set that has boxes.")
    found = {str(image_id): group for image_id, group in proposals.groupby("image_id", sort=False)}
    nothing = proposals.iloc[:0]
    pairs = [
        (found.get(str(image_id), nothing)[BOX].to_numpy(np.float32), group[BOX].to_numpy(np.float32))
        for image_id, group in true_boxes.groupby("image_id", sort=False)
    ]
    return pd.DataFrame([_row(pairs, count) for count in COUNTS])


def _row(pairs: Sequence[tuple[NDArray[np.float32], ...]], count: int) -> dict[str, float]:
    proposed = [boxes[: count or None] for boxes, _ in pairs]
    best = np.concatenate(
        [
            intersection_over_union(true[:, None], boxes[None]).max(axis=1, initial=0)
            for boxes, (_, true) in zip(proposed, pairs, strict=True)
        ]
    )
    return {
        "boxes": count,
        "boxes_mean": float(np.mean([len(boxes) for boxes in proposed])),
        "average_best_overlap": float(best.mean()),
        **{f"recall_{percent}": float((best >= percent / 100).mean()) for percent in PERCENT},
        "true_boxes": len(best),
    }


def table(title: str, recalls: Mapping[str, pd.DataFrame]) -> str:
    """The recalls of several proposers, by name, as a Markdown table."""
    recalls_at = [f"recall at {percent / 100}" for percent in PERCENT]
    head = ["proposer", "boxes looked at", "boxes an image", "average best overlap", *recalls_at]
    lines = [f"# Proposals on {title}", "", " | ".join(["", *head, ""]).strip(), "|---|" + "---:|" * 6]
    for name, rows in recalls.items():
        for row in rows.to_dict("records"):
            count = row["boxes"] or "all"
            overlaps = [row["average_best_overlap"], *(row[f"recall_{percent}"] for percent in PERCENT)]
            figures = " | ".join(f"{overlap:.3f}" for overlap in overlaps)
            lines.append(f"| {name} | {count} | {row['boxes_mean']:.0f} | {figures} |")
    true_boxes = sorted({int(count) for rows in recalls.values() for count in rows["true_boxes"]})
    lines += [
        "",
        f"Against {' or '.join(map(str, true_boxes))} true boxes of all splits; overlap is intersection over union.",
    ]
    return "\n".join(lines) + "\n"

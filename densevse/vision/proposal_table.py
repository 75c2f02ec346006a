"""The table of proposers: what they cover, what others published, and how long they take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from densevse.artifacts.schemas.proposals import PERCENT

FIGURES = ("average_best_overlap", *(f"recall_{percent}" for percent in PERCENT), "segment_jaccard")
NAMES = ("average best overlap", *(f"recall at {percent / 100}" for percent in PERCENT), "Jaccard of segments")


class Published(NamedTuple):
    """Figures that a proposer's authors published, and what they were measured on."""

    rows: pd.DataFrame  # proposer, boxes (0 for all), boxes_mean and FIGURES but the first; NaN where not known
    images: str
    source: str


def read_published(table: str | Path, about: str | Path) -> Published:
    """The figures of config/published/proposals/<data set>.csv, with what stands in the .yaml beside it."""
    return Published(pd.read_csv(table), **yaml.safe_load(Path(about).read_text(encoding="utf-8")))


def table(
    title: str,
    recalls: Mapping[str, pd.DataFrame],
    times: Mapping[str, pd.DataFrame] | None = None,
    published: Published | None = None,
) -> str:
    """The recalls (PROPOSAL_RECALL) and times (PROPOSAL_TIMES) of proposers, by name, as Markdown."""
    lines = [f"# Proposals on {title}", "", *_recalls(recalls, published), "", _foot(recalls, published)]
    if times:
        lines += ["", *_times(times)]
    return "\n".join(lines) + "\n"


def _recalls(recalls: Mapping[str, pd.DataFrame], published: Published | None) -> list[str]:
    lines = [_line("proposer", "boxes looked at", "boxes an image", *NAMES), "|---|" + "---:|" * (2 + len(NAMES))]
    for name, rows in recalls.items():
        for row in rows.to_dict("records"):
            lines.append(_line(name, *_counts(row), *(_measured(row, figure) for figure in FIGURES)))
    for row in published.rows.to_dict("records") if published else []:
        lines.append(_line(f"{row['proposer']}, published", *_counts(row), *(_figure(row.get(f)) for f in FIGURES)))
    return lines


def _foot(recalls: Mapping[str, pd.DataFrame], published: Published | None) -> str:
    facts = sorted({(int(n), int(k)) for rows in recalls.values() for n, k in rows[["true_boxes", "images"]].values})
    against = " or ".join(f"{boxes} true boxes of {images} images" for boxes, images in facts)
    text = (
        f"Against {against}, of all splits. Overlap is intersection over union; in brackets, 95% intervals over images "
        "drawn anew. The Jaccard of segments is the mean over objects of the best of as many segments."
    )
    return f"{text} Published: {published.images}; {published.source}." if published else text


def _times(times: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = ["Processor seconds an image, in one process of one thread, and of which step:", ""]
    lines += [_line("proposer", "all but contours", "contours", "steps"), "|---|---:|---:|---|"]
    for name, rows in times.items():
        seconds = dict(zip(rows["step"], rows["seconds"], strict=True))
        contours = seconds.pop("contours", None)
        steps = ", ".join(f"{step} {value:.2f}" for step, value in seconds.items())
        lines.append(_line(name, f"{sum(seconds.values()):.2f}", "" if contours is None else f"{contours:.2f}", steps))
    return lines


def _counts(row: Mapping[Any, Any]) -> tuple[str, str]:
    return str(int(row["boxes"]) or "all"), f"{row['boxes_mean']:.0f}"


def _measured(row: Mapping[Any, Any], figure: str) -> str:
    if pd.isna(row[figure]):
        return ""
    return f"{row[figure]:.3f} [{row[figure + '_low']:.3f}, {row[figure + '_high']:.3f}]"


def _figure(value: float | None) -> str:
    return "" if value is None or pd.isna(value) else f"{value:.3f}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"

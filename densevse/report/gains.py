"""The gains of a table's rows on its reference row, with their 95% intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.report.columns import RESULTS
from densevse.report.figures import QUIET, RIGHT_COLOUR, WRONG_COLOUR, save_figure
from densevse.report.plan import GainsPlan
from densevse.report.rendering import number
from snakeproof import schema
from snakeproof.strict import validate

_WIDTH, _ROW, _MARGINS = 8.0, 0.32, 1.3  # inches: the picture, a row, and the space above and below rows


_LEGEND = "Point: the gain in rsum. Line: its 95% interval: green above 0, red below 0, grey if it contains 0."


def draw_gains(results: str, plan: Mapping[str, Any], output: str) -> None:
    """The job that draws the gains in a RESULTS artifact, as a `GainsPlan` says.

    There is a line for each row, in the table's order, and a panel for each section. Gains are differences of rsum. A
    gain whose interval excludes 0 is green (better) or red (worse). A gain without an interval, as with too few images,
    is only a point.
    """
    picture = validate(GainsPlan, plan, "the plan of the picture")
    rows = schema.read(results, RESULTS)
    rows = rows[rows["gain"].notna()]
    sections = [
        (one.title, rows[(rows["dataset"] == one.dataset) & (rows["protocol"] == one.protocol)])
        for one in picture.sections
    ]
    save_gains(sections, picture.title, picture.reference, output)


def save_gains(sections: Sequence[tuple[str, pd.DataFrame]], title: str, reference: str, output: str | Path) -> None:
    """Writes the picture of gains on a reference row, with a panel for each section: its title and its rows.

    Rows have `method`, `gain`, `gain_low`, `gain_high` and `seeds`, as in a RESULTS artifact.
    """
    heights = [_MARGINS + _ROW * len(rows) for _, rows in sections]
    figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
    figure.suptitle(title, parse_math=False)
    panels = figure.subplots(len(sections), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (name, rows) in zip(panels, sections, strict=True):
        _draw_panel(axes, rows, reference)
        if len(sections) > 1:
            axes.set_title(name, loc="left", fontsize=10, parse_math=False)
    save_figure(figure, output, _LEGEND)


def _draw_panel(axes: Axes, rows: pd.DataFrame, reference: str) -> None:
    for line, row in enumerate(rows.to_dict("records")):
        sure = bool(row["gain_low"] > 0 or row["gain_high"] < 0)
        color = QUIET if not sure else RIGHT_COLOUR if row["gain"] > 0 else WRONG_COLOUR
        axes.plot([row["gain_low"], row["gain_high"]], [line, line], color=color, linewidth=2)
        axes.plot(row["gain"], line, "o", color=color, markersize=6)
        text = number(row["gain"], sign="+")
        axes.annotate(text, (1.01, line), xycoords=("axes fraction", "data"), va="center", fontsize=9, color=color)
    axes.axvline(0, color="black", linewidth=1, zorder=0)
    axes.set_yticks(range(len(rows)), rows["method"], fontsize=10, parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    seeds = " (one seed)" if (rows["seeds"] == 1).all() else ""
    axes.set_xlabel(f"rsum minus that of {reference}, with a paired 95% interval{seeds}", parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)

"""Phrases of a sentence on a picture, each in the colour of its box."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from densevse.artifacts.boxes import BOX
from densevse.report.texts import shortened

COLORS = ("#e8710a", "#188038", "#1967d2", "#d01884", "#9334e6", "#b80672", "#129eaf", "#7a4510")


def draw_phrases(axes: Axes, phrases: pd.DataFrame) -> None:
    """Draws each phrase's box on a picture, and lists the phrases below it with their confidences."""
    for number, (_, phrase) in enumerate(phrases.iterrows()):
        color = COLORS[number % len(COLORS)]
        x, y, width, height = (float(phrase[name]) for name in BOX)
        inset = 0.01 * number * max(width, height)  # boxes of one region are drawn side by side
        axes.add_patch(
            Rectangle((x + inset, y + inset), width - 2 * inset, height - 2 * inset, fill=False, color=color, lw=2.5)
        )
        axes.text(
            0,
            -0.03 - 0.06 * number,
            f"{shortened(phrase['phrase'], 36)}  {phrase['confidence']:.2f}",
            color=color,
            fontsize=9,
            va="top",
            transform=axes.transAxes,
            parse_math=False,
        )

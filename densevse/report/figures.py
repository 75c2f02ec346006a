"""The parts of figures: photographs on axes and canvases, phrases, and files whose bytes depend on contents only."""

import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from densevse.artifacts.boxes import BOX
from densevse.report.pictures import Pixels
from snakeproof.files import atomic_file

_OPTIONS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    # The default level, 6, takes twice as long for files that are 15% smaller.
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}},
}
_LETTERS = 13
"""Of a legend, in an inch."""
RIGHT_COLOUR, WRONG_COLOUR, QUIET = "#1a7f37", "#b3261e", "#666666"


def save_figure(figure: Figure, path: str | Path, legend: str = "") -> None:
    """Writes a figure in the format of the path's ending, without dates, versions or random ids.

    `legend` is text below the figure, which says what its boxes, numbers and colours mean. A character that
    matplotlib's own font lacks (Chinese, an emoji) is written as its code, as a font of the machine would make the
    bytes depend on the machine.
    """
    if legend:
        below = "\n".join(wrap_evenly(legend, round(_LETTERS * figure.get_figwidth())))
        figure.text(0.5, -0.1 / figure.get_figheight(), below, ha="center", va="top", fontsize=10, parse_math=False)
    for text in figure.findobj(Text):
        text.set_text(drawable_text(text.get_text()))
    ending = Path(path).suffix.removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "densevse"}), atomic_file(path) as temporary:
        figure.savefig(temporary, format=ending, dpi=110, bbox_inches="tight", **_OPTIONS.get(ending, {}))


def wrap_evenly(text: str, width: int) -> list[str]:
    """The fewest lines of at most `width` characters, about equally long, so that no word stands alone on the last."""
    lines = textwrap.wrap(text, width)
    while len(narrower := textwrap.wrap(text, max(map(len, lines)) - 1)) == len(lines):
        lines = narrower
    return lines


def number_logarithmic(axis: Axis) -> None:
    """Writes plain numbers at an axis that is logarithmic, few enough that they do not overlap."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def drawable_text(text: str) -> str:
    """The text with codes in place of the characters that matplotlib's own font lacks."""
    return "".join(
        character
        if ord(character) in _font_characters() or character == "\n"
        else character.encode("unicode_escape").decode()
        for character in text
    )


@cache
def _font_characters() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


_SMOOTH = "bicubic"


def draw_picture(axes: Axes, pixels: Pixels, frame: str | None = None) -> None:
    """Draws pixels (height, width, 3) smoothly at any size, with a `frame` of that colour if one is given.

    Later drawings on them use pixel coordinates.
    """
    axes.imshow(pixels, interpolation=_SMOOTH)
    if frame:
        axes.set_axis_on()
        axes.set(xticks=[], yticks=[])
        for side in axes.spines.values():
            side.set(color=frame, linewidth=3)


def canvas(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    """A titled figure of this size, with axes over all of it in inches from its upper left corner."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0), autoscale_on=False)
    axes.set_axis_off()
    axes.text(width / 2, 0.25, title, ha="center", va="center", fontsize=12, parse_math=False)
    return figure, axes


def place_picture(
    axes: Axes, pixels: Pixels, corner: tuple[float, float], size: tuple[float, float], frame: str | None = None
) -> None:
    """Draws pixels on a canvas as large as fits into a box with an upper left `corner` and a `size` in inches.

    They are centred in the box, with a `frame` of that colour if one is given.
    """
    height, width = pixels.shape[:2]
    scale = min(size[0] / width, size[1] / height)
    width, height = scale * width, scale * height
    left, top = corner[0] + (size[0] - width) / 2, corner[1] + (size[1] - height) / 2
    axes.imshow(pixels, interpolation=_SMOOTH, extent=(left, left + width, top + height, top), aspect="auto")
    if frame:
        axes.add_patch(Rectangle((left, top), width, height, fill=False, color=frame, linewidth=3))


_COLUMNS = 4
_WIDTH, _HEIGHT = 3.0, 4.8  # inches of a picture with its title and its list, which are legible at this size


def picture_grid(pictures: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure with places for a number of `pictures`, four in a line, on empty axes."""
    lines = max(1, -(-pictures // _COLUMNS))
    figure = Figure(figsize=(_WIDTH * _COLUMNS, _HEIGHT * lines))
    figure.suptitle(title, parse_math=False)
    axes = list(figure.subplots(lines, _COLUMNS, squeeze=False).ravel())
    # The lists below the pictures need room that automatic layout does not leave.
    inch = 1 / (_HEIGHT * lines)
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 0.9 * inch, bottom=1.6 * inch, wspace=0.08, hspace=0.58)
    for place in axes:
        place.axis("off")
    return figure, axes


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
            f"{shorten_text(phrase['phrase'], 36)}  {phrase['confidence']:.2f}",
            color=color,
            fontsize=9,
            va="top",
            transform=axes.transAxes,
            parse_math=False,
        )


def shorten_text(text: str, width: int) -> str:
    """A text cut to a number of characters."""
    return textwrap.shorten(text, width, placeholder=" ...")

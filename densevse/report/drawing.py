"""Photographs in figures: on separate axes, or placed on a canvas, which is drawn faster."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from densevse.report.pictures import Pixels

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

"""Photographs on the axes of a figure."""

from matplotlib.axes import Axes

from densevse.report.pictures import Pixels


def draw_picture(axes: Axes, pixels: Pixels) -> None:
    """Draw pixels (height, width, 3) smoothly, however large; what is drawn on them is placed in pixels."""
    axes.imshow(pixels, interpolation="bicubic")

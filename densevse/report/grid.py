"""Pictures side by side, each with a list below it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_COLUMNS = 4


def picture_grid(pictures: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure with places for a number of `pictures`, four in a line, on empty axes."""
    lines = max(1, -(-pictures // _COLUMNS))
    figure = Figure(figsize=(4 * _COLUMNS, 5.8 * lines))
    figure.suptitle(title)
    axes = list(figure.subplots(lines, _COLUMNS, squeeze=False).ravel())
    # The lists below the pictures need room that automatic layout does not leave.
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 0.9 / (5.8 * lines), bottom=1.7 / (5.8 * lines), hspace=0.5)
    for place in axes:
        place.axis("off")
    return figure, axes

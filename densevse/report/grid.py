"""Pictures side by side, each with a list below it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

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

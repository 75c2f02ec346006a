"""How a figure becomes a file whose bytes depend on what it shows alone."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from densevse.artifacts.files import atomic

RIGHT, WRONG, QUIET = "#1a7f37", "#b3261e", "#666666"


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure in the format that the path's ending names, without dates, versions or random ids."""
    ending = Path(path).suffix.removeprefix(".")
    metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}.get(ending)
    with matplotlib.rc_context({"svg.hashsalt": "densevse"}), atomic(path) as temporary:
        figure.savefig(temporary, format=ending, metadata=metadata, dpi=110)

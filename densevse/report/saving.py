"""Saves figures as files whose bytes depend only on their contents."""

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text

from densevse.artifacts.files import atomic

_OPTIONS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    # The default level, 6, takes twice as long for files that are 15% smaller.
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}},
}
RIGHT_COLOUR, WRONG_COLOUR, QUIET = "#1a7f37", "#b3261e", "#666666"


def save(figure: Figure, path: str | Path) -> None:
    """Writes a figure in the format of the path's ending, without dates, versions or random ids.

    A character that matplotlib's own font lacks (Chinese, an emoji) is written as its code, as a font of the machine
    would make the bytes depend on the machine.
    """
    for text in figure.findobj(Text):
        text.set_text(drawable(text.get_text()))
    ending = Path(path).suffix.removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "densevse"}), atomic(path) as temporary:
        figure.savefig(temporary, format=ending, dpi=110, **_OPTIONS.get(ending, {}))


def drawable(text: str) -> str:
    """The text with codes in place of the characters that matplotlib's own font lacks."""
    return "".join(
        character if ord(character) in _pictures() or character == "\n" else character.encode("unicode_escape").decode()
        for character in text
    )


@cache
def _pictures() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())

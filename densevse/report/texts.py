"""Texts in figures."""

import textwrap


def shortened(text: str, width: int) -> str:
    """A text of at most so many characters."""
    return textwrap.shorten(text, width, placeholder=" ...")

"""Texts in figures."""

import textwrap


def shortened(text: str, width: int) -> str:
    """A text cut to a number of characters."""
    return textwrap.shorten(text, width, placeholder=" ...")

"""Splits a text into words."""

import re


def split_words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return re.findall(r"[a-z]+", text.lower())

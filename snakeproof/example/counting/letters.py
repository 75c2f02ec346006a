"""Splits a text into words."""

import re


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return re.findall(r"[a-z]+", text.lower())

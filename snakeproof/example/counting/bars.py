"""Draws bars."""

LONGEST = 20


def bar(share: float) -> str:
    """A bar for a share of the whole."""
    return "#" * round(share * LONGEST)

"""Prints rows of text in columns."""

from collections.abc import Iterable, Sequence

_WIDTH = 120
_LEAST = 8
"""Characters of a line at most, and of a column that is shortened at least."""


def aligned(rows: Iterable[Sequence[str]], cut: int, indent: int = 0) -> str:
    """Rows in columns, each as wide as its longest cell; the column `cut` is shortened to keep lines short."""
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    others = indent + sum(widths) - widths[cut] + 2 * (len(widths) - 1)
    widths[cut] = min(widths[cut], max(_LEAST, _WIDTH - others))
    return "\n".join(" " * indent + "  ".join(map(_cell, row, widths)).rstrip() for row in table)


def _cell(text: str, width: int) -> str:
    return (text if len(text) <= width else f"{text[: width - 1]}…").ljust(width)

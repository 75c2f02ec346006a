"""Prints rows of text in columns."""

from collections.abc import Iterable, Sequence

_WIDTH = 120
_LEAST = 8
"""The largest number of characters in a line, and the smallest in a shortened column."""


def aligned(rows: Iterable[Sequence[str]], cut: int, indent: int = 0, right: Sequence[int] = ()) -> str:
    """Rows in columns, each as wide as its longest cell; the column `cut` is shortened to keep lines short.

    The columns `right` are aligned to the right.
    """
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    others = indent + sum(widths) - widths[cut] + 2 * (len(widths) - 1)
    widths[cut] = min(widths[cut], max(_LEAST, _WIDTH - others))
    return "\n".join(_line(row, widths, right, indent) for row in table)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int], indent: int) -> str:
    cells = [text if len(text) <= width else f"{text[: width - 1]}…" for text, width in zip(row, widths, strict=True)]
    placed = [cell.rjust(widths[n]) if n in right else cell.ljust(widths[n]) for n, cell in enumerate(cells)]
    return " " * indent + "  ".join(placed).rstrip()

"""LaTeX of a table: special characters, bold cells, and the environments of the package booktabs."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "\n": " ",
} | {character: f"\\{character}" for character in "&%$#_{}"}
NEEDED = r"% Needs \usepackage[T1]{fontenc} and \usepackage{booktabs,graphicx}."
# Only a table that is wider than its page is scaled down.
_RESIZED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def escaped(text: str) -> str:
    """The text as LaTeX prints it; a hyphen before a number becomes a minus."""
    return _MINUS.sub(r"\\ensuremath{-}", "".join(SPECIAL.get(character, character) for character in text))


def bold(text: str) -> str:
    """LaTeX in bold."""
    return rf"\textbf{{{text}}}"


def floating_table(
    caption: str, alignment: str, groups: Sequence[str], headers: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[str]:
    """Lines of a table environment; cells, headers and groups (one for each column, or empty) are LaTeX already."""
    over = [] if not any(groups) else _over(groups)
    tabular = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *over,
        _line(headers),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    return [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", _RESIZED, *tabular, r"\end{table}", ""]


def itemized(notes: Iterable[str]) -> list[str]:
    """Lines of a list of notes in small print, which are LaTeX already; unlike a table it may break over pages."""
    items = [rf"\item {note}" for note in notes]
    return [r"{\footnotesize", r"\begin{itemize}", *items, r"\end{itemize}}", ""] if items else []


def _over(groups: Sequence[str]) -> list[str]:
    """The line of groups, each over its columns, and the rules below them."""
    cells, rules, end = [], [], 0
    for name, columns in groupby(groups):
        start, end = end + 1, end + len(list(columns))
        cells.append(rf"\multicolumn{{{end - start + 1}}}{{c}}{{{name}}}")
        rules += [rf"\cmidrule(lr){{{start}-{end}}}"] if name else []
    return [_line(cells), "".join(rules)]


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"

"""Renders a table of results as readable text (Markdown), as a page (HTML) and for papers (LaTeX)."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any, Literal, TypeAlias

import pandas as pd

from snakeproof.files import write_text

Best: TypeAlias = Literal["highest", "lowest"]
"""The better extreme of a metric."""
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


@dataclass(frozen=True)
class TableColumn:
    """A column: its header, its group of columns (`short` in Markdown), and whether it holds numbers.

    `cell` prints the value of a row. `best` chooses the best of its numbers, if there is one. A column that papers do
    not have is not `in_latex`. One that is `optional` is there only if a row has a value.
    """

    header: str
    group: str = ""
    short: str = ""
    number: bool = True
    best: Best | None = None
    in_latex: bool = True
    optional: bool = False
    cell: Callable[[Any], str] = str

    def best_rows(self, cells: Sequence[str]) -> set[int]:
        """The rows whose cells hold the best printed number; none if fewer than two rows have a number."""
        numbers = {row: float(cell.replace(",", "")) for row, cell in enumerate(cells) if _NUMBER.fullmatch(cell)}
        if self.best is None or len(numbers) < 2:
            return set()
        best = (max if self.best == "highest" else min)(numbers.values())
        return {row for row, value in numbers.items() if value == best}

    def latex(self, cells: Sequence[str]) -> list[str]:
        """The cells as LaTeX, the best number in bold."""
        best = self.best_rows(cells)
        return [bold_text(as_latex(cell)) if row in best else as_latex(cell) for row, cell in enumerate(cells)]


@dataclass(frozen=True)
class Sheet:
    """Rows below a heading, with one cell for each column; LaTeX has `intervals` only on request."""

    heading: str
    columns: tuple[TableColumn, ...]
    rows: list[list[str]]
    intervals: bool = False

    @classmethod
    def from_rows(
        cls, heading: str, columns: Iterable[TableColumn], rows: Iterable[Any], intervals: bool = False
    ) -> "Sheet":
        """A sheet of rows, which its columns print."""
        rows = list(rows)
        cells = [(column, [column.cell(row) for row in rows]) for column in columns]
        kept = [(column, of) for column, of in cells if any(of) or not column.optional]
        return cls(
            heading,
            tuple(column for column, _ in kept),
            [*map(list, zip(*(of for _, of in kept), strict=True))],
            intervals,
        )

    def markdown(self) -> list[str]:
        """Lines of Markdown with aligned columns; each header begins with its column's group."""
        headers = [_cell(f"{column.short} {column.header}".strip()) for column in self.columns]
        lines = [[_cell(cell) for cell in row] for row in self.rows]
        widths = [max(3, *map(_width, column)) for column in zip(headers, *lines, strict=True)]
        rule = ["-" * (width - 1) + (":" if c.number else "-") for width, c in zip(widths, self.columns, strict=True)]
        table = ["| " + " | ".join(self._pad(line, widths)) + " |" for line in (headers, *lines)]
        table.insert(1, "| " + " | ".join(rule) + " |")
        return [*([f"## {as_markdown(self.heading)}", ""] if self.heading else []), *table, ""]

    def html(self) -> str:
        """A heading and a table element."""
        groups = [(name, len(list(columns))) for name, columns in groupby(column.group for column in self.columns)]
        over = "".join(f'<th colspan="{span}">{escape(name)}</th>' for name, span in groups)
        over = f"<tr>{over}</tr>" if any(name for name, _ in groups) else ""
        headers = self._html_cells("th", [column.header for column in self.columns])
        body = "\n".join(f"<tr>{self._html_cells('td', row)}</tr>" for row in self.rows)
        head = f"<thead>{over}<tr>{headers}</tr></thead>"
        heading = f"<h2>{escape(self.heading)}</h2>\n" if self.heading else ""
        return f'{heading}<div class="sheet"><table>{head}\n<tbody>\n{body}\n</tbody></table></div>'

    def latex(self, title: str) -> list[str]:
        """Lines of a LaTeX table, with the best number of each column in bold and without empty columns."""
        cells = [[row[number] for row in self.rows] for number in range(len(self.columns))]
        kept = [
            (column, of)
            for column, of in zip(self.columns, cells, strict=True)
            if column.in_latex and (any(of) or not self.rows)
        ]
        printed = [column.latex(of) for column, of in kept]
        caption = self.heading if self.heading.startswith(title) else ": ".join(filter(None, (title, self.heading)))
        return floating_table(
            as_latex(caption),
            "".join("r" if column.number else "l" for column, _ in kept),
            [as_latex(column.group) for column, _ in kept],
            [as_latex(column.header) for column, _ in kept],
            list(zip(*printed, strict=True)),
        )

    def _pad(self, line: list[str], widths: list[int]) -> list[str]:
        return [
            " " * (width - _width(cell)) + cell if column.number else cell + " " * (width - _width(cell))
            for cell, width, column in zip(line, widths, self.columns, strict=True)
        ]

    def _html_cells(self, element: Literal["th", "td"], cells: Sequence[str]) -> str:
        classes = (' class="number"' if column.number else "" for column in self.columns)
        return "".join(f"<{element}{of}>{escape(cell)}</{element}>" for cell, of in zip(cells, classes, strict=True))


@dataclass(frozen=True)
class Document:
    """A title, sheets, notes below them, and an appendix for reference."""

    title: str
    sheets: list[Sheet]
    notes: list[str] = field(default_factory=list)
    appendix: list[Sheet] = field(default_factory=list)

    def markdown(self) -> str:
        """The document as Markdown."""
        tables, appendix = (
            [line for sheet in part for line in sheet.markdown()] for part in (self.sheets, self.appendix)
        )
        notes = [f"- {as_markdown(note)}" for note in self.notes]
        return "\n".join([f"# {as_markdown(self.title)}", "", *tables, *notes, "", *appendix])

    def html(self) -> str:
        """The document as an HTML page without scripts or other files."""
        notes = "\n".join(f"<li>{escape(note)}</li>" for note in self.notes)
        tables, appendix = ([sheet.html() for sheet in part] for part in (self.sheets, self.appendix))
        return page(self.title, "", [*tables, f"<ul>\n{notes}\n</ul>", *appendix])

    def latex(self, intervals: bool = False) -> str:
        """The document as LaTeX to paste: a table for each sheet, notes, and intervals only on request."""
        tables = [line for sheet in self.sheets if intervals or not sheet.intervals for line in sheet.latex(self.title)]
        appendix = [line for sheet in self.appendix for line in sheet.latex(self.title)]
        return "\n".join([_NEEDED, *tables, *itemize_notes(map(as_latex, self.notes)), *appendix])

    def write(self, markdown: str, html: str, latex: str, intervals: bool = False) -> None:
        """Writes three files: Markdown for reading, a page for reports, and LaTeX for papers (see `latex`)."""
        write_text(self.markdown(), markdown)
        write_text(self.html(), html)
        write_text(self.latex(intervals), latex)


_STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:1.5em;color:#222}h1{font-size:1.2em}h2{font-size:1em}"
    ".sheet{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.25em .6em;white-space:nowrap}"
    "th{text-align:left}th[colspan]{text-align:center}thead tr:last-child{border-bottom:1px solid #888}"
    "tbody tr:nth-child(even){background:#f5f6f8}.number{text-align:right;font-variant-numeric:tabular-nums}"
    "td{vertical-align:top}li{max-width:70em}"
    "@media(min-width:60em){td:not(.number){white-space:normal}td:first-child:not(.number){min-width:10em}}"
)
"""A sheet that is wider than the window scrolls alone. In a wide window, text in a cell wraps first."""


def page(title: str, style: str, body: Iterable[str]) -> str:
    """A page with a title and the elements of its `body`; `style` is added to the style of tables."""
    elements = "\n".join(body)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head>'
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>\n'
        f"<style>{_STYLE}{style}</style></head>\n<body><h1>{escape(title)}</h1>\n{elements}\n</body></html>\n"
    )


def named_seeds(seeds: Iterable[int]) -> str:
    """Seeds in the wording of tables: "seed 0", "seeds 0, 1, 2"."""
    names = [str(seed) for seed in seeds]
    return f"seed{'s' if len(names) > 1 else ''} {', '.join(names)}"


def number(value: float | None, key: str = "", sign: str = "") -> str:
    """A metric of ours with one decimal; a whole rank without any; empty without a value.

    `key` names the metric; with `sign` "+", gains get a sign too.
    """
    if pd.isna(value):
        return ""
    written = f"{value:{sign}.1f}"
    return written.removesuffix(".0") if key.endswith("rank") else written


def number_range(ends: Iterable[float] | None, key: str = "", sign: str = "") -> str:
    """The two ends of an interval of a metric of ours; empty without an interval."""
    written = [number(end, key, sign) for end in ends or ()]
    return " to ".join(written) if all(written) else ""


def count_range(counts: Iterable[int]) -> str:
    """The smallest and the largest of some counts; one number where they are equal."""
    found = sorted(counts)
    return " to ".join(f"{count:,}" for count in dict.fromkeys((found[0], found[-1])))


def number_cell(name: str, sign: str = "") -> Callable[[Any], str]:
    """Prints a metric of a row as `number` does."""
    return lambda row: number(row[name], name, sign)


def range_cell(name: str, sign: str = "") -> Callable[[Any], str]:
    """Prints the 95% interval of a metric of a row, whose ends have the metric's name and _low and _high."""
    return lambda row: number_range((row[f"{name}_low"], row[f"{name}_high"]), name, sign)


_CODE = r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)"
_RUN_BY_MARKDOWN = re.compile(rf"{_CODE}|<(?=[A-Za-z/!?])|(?<=\])\((?=[^)]*:)")
"""Code, in which nothing is run; the start of an element of HTML; and that of the address in a link."""


def as_markdown(text: str) -> str:
    """The text as one line of Markdown, in which nothing is an element of HTML or a link to an address."""
    return _RUN_BY_MARKDOWN.sub(
        lambda found: found[0] if found[1] else f"&#{ord(found[0])};", " ".join(text.splitlines())
    )


def _cell(text: str) -> str:
    """The text of a Markdown cell, where bars and stars stand for themselves."""
    return as_markdown(text).replace("|", "\\|").replace("*", "\\*")


def as_csv(rows: pd.DataFrame) -> str:
    """The rows as CSV, numbers with four decimals. Text that a spreadsheet would compute begins with an apostrophe."""
    plain = rows.map(lambda cell: f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell)
    return plain.to_csv(index=False, float_format="%.4f", lineterminator="\n")


_FORMULA = re.compile(r"\s*[=+@-]")


def _width(text: str) -> int:
    """The width of a text on a terminal, where combining marks have none."""
    return sum(not unicodedata.combining(character) for character in text)


SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "\n": " ",
} | {character: f"\\{character}" for character in "&%$#_{}"}
"""The characters that LaTeX does not print as they are, and what prints them."""
_NEEDED = r"% Needs \usepackage[T1]{fontenc} and \usepackage{booktabs,graphicx}."
# Only a table that is wider than its page is scaled down.
_RESIZED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_ARGUMENT = re.compile(r"^(\s*)([\[*])")
"""Characters that LaTeX takes for a part of the command before them, \\\\ or \\item."""
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def as_latex(text: str) -> str:
    """The text as LaTeX prints it, also at the start of a line; a hyphen before a number becomes a minus.

    Code between backticks is in typewriter type; a backtick alone would print an opening quotation mark.
    """
    parts = re.split(r"`([^`]+)`", text)
    escaped = ["".join(SPECIAL.get(character, character) for character in part) for part in parts]
    printed = "".join(rf"\texttt{{{part}}}" if place % 2 else part for place, part in enumerate(escaped))
    return _MINUS.sub(r"\\ensuremath{-}", _ARGUMENT.sub(r"\1{\2}", printed))


def bold_text(text: str) -> str:
    """LaTeX in bold."""
    return rf"\textbf{{{text}}}"


def floating_table(
    caption: str, alignment: str, groups: Sequence[str], headers: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[str]:
    """Lines of a table environment; cells, headers and groups (one for each column, or empty) are LaTeX already."""
    over = [] if not any(groups) else _latex_groups(groups)
    tabular = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *over,
        _latex_line(headers),
        r"\midrule",
        *map(_latex_line, rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    return [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", _RESIZED, *tabular, r"\end{table}", ""]


def itemize_notes(notes: Iterable[str]) -> list[str]:
    """Lines of a list of notes in small print, which are LaTeX already; unlike a table it may break over pages."""
    items = [rf"\item {note}" for note in notes]
    return [r"{\footnotesize", r"\begin{itemize}", *items, r"\end{itemize}}", ""] if items else []


def _latex_groups(groups: Sequence[str]) -> list[str]:
    """The line of groups, each over its columns, and the rules below them."""
    cells, rules, end = [], [], 0
    for name, columns in groupby(groups):
        start, end = end + 1, end + len(list(columns))
        cells.append(rf"\multicolumn{{{end - start + 1}}}{{c}}{{{name}}}")
        rules += [rf"\cmidrule(lr){{{start}-{end}}}"] if name else []
    return [_latex_line(cells), "".join(rules)]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"

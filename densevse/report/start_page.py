"""The start page of a report: the main tables and three pictures, and the function of each rule.

Snakemake prints the source of a rule's script, which is one for all rules; so the page prints that of the functions.
"""

import base64
import mimetypes
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from densevse.report.pictures import jpeg
from densevse.runtime.project import git
from snakeproof.files import write_text

PICTURES = ("*_gains.svg", "correspondences.png", "saliency.png", "alignments.png", "examples/*.png", "captions.png")
"""Candidates for the pictures, the most informative kinds first; of each kind, the first picture in the report is
shown."""
_SHOWN = 3
_LINE = 5000  # characters; docutils refuses lines of more than 10,000, and browsers join them again
_WIDTH, _QUALITY = 1100, 85  # pixels of pictures on the page, as browsers take seconds to show megabytes
_TITLE = re.compile(r"<h1>(.*?)</h1>")
_TABLE = re.compile(r'<h2>(.*?)</h2>\s*<div class="sheet">(<table>.*?</table>)', re.DOTALL)
# Makes the description as wide as the page, beside the menu and not below it, and puts the rule graph below it. In a
# narrow window the menu stands above.
_STYLE = """<style>
.prose.max-w-lg{max-width:1100px}
.overflow-auto:has(.prose){align-items:flex-start;justify-content:flex-start;min-width:0}
.overflow-auto:has(.prose) div:has(.prose){min-width:0;max-width:100%}
div:has(>div>.prose){flex-direction:column}
.prose figure{margin:1.5em 0}
.prose figure img{width:100%;margin:0}
.start-table{overflow-x:auto}
.start-table table{font-size:12px;margin:0}
.start-table th,.start-table td{padding:2px 8px;white-space:nowrap}
.start-table .number{text-align:right}
@media(min-width:1000px){.start-table td:not(.number){white-space:normal}}
@media(max-width:700px){div:has(>nav){flex-direction:column!important}nav:not(.w-0){width:100%!important;max-height:40vh}}
</style>"""


class ReportedFile(Protocol):
    """A file in the report, as Snakemake describes it to its templates."""

    path: Path
    job: Any


def start_page(
    files: Iterable[ReportedFile], datasets: Collection[str], sources: Mapping[str, tuple[str, str]], root: Path
) -> str:
    """The page as HTML, with embedded pictures; `sources` has the function of each rule and its text.

    `root` is the project's folder, whose commit is named.
    A table is a main one if it is named after one of `datasets`. If there is none, every table of results is shown.
    """
    known = sorted(files, key=lambda file: file.path)
    tables = [file.path for file in known if file.job.rule.name == "table"]
    main = [path for path in tables if path.stem in datasets] or tables
    of_kinds = [[file.path for file in known if file.path.match(kind)] for kind in PICTURES]
    pictures = [paths[0] for paths in of_kinds if paths][:_SHOWN]
    return "\n".join(
        [_STYLE, _describe_origin(root), *map(_table, main), *map(_picture, pictures), _functions(sources)]
    )


def _describe_origin(root: Path) -> str:
    """The day, and the commit of the project if it is a clone."""
    commit = git(root, "log", "-1", "--format=%h of %as")
    return f"<p>Written on {date.today()}{f', at commit {commit}' if commit else ''}.</p>"


def _functions(sources: Mapping[str, tuple[str, str]]) -> str:
    """The rules, each with its function, whose text unfolds."""
    items = [
        f"<details><summary>{escape(rule)}: <code>{escape(call)}</code></summary><pre>{escape(text)}</pre></details>"
        for rule, (call, text) in sorted(sources.items())
    ]
    return "\n".join(["<h2>Rules and their functions</h2>", *items])


def _table(path: Path) -> str:
    """The title and the first sheet of a table's page. Raises `ValueError` if the page has none."""
    page = path.read_text(encoding="utf-8")
    title, sheet = _TITLE.search(page), _TABLE.search(page)
    if title is None or sheet is None:
        raise ValueError(f"{path}: expected the page of a table with a title and a sheet")
    return f'<h2>{title[1]}</h2>\n<p>{sheet[1]}</p>\n<div class="start-table">{sheet[2]}</div>'


def _picture(path: Path) -> str:
    kind, name = mimetypes.guess_type(path)[0], escape(path.as_posix(), quote=True)
    content = path.read_bytes()
    if kind == "image/png":
        kind, content = "image/jpeg", _shrink_picture(path)
    data = base64.b64encode(content).decode("ascii")
    data = "\n".join(data[start : start + _LINE] for start in range(0, len(data), _LINE))
    return f'<figure><img alt="{name}" src="data:{kind};base64,{data}"><figcaption>{name}</figcaption></figure>'


def _shrink_picture(path: Path) -> bytes:
    """A picture as a JPEG with the width of the page."""
    with Image.open(path) as image:
        page = image.convert("RGB")
    page.thumbnail((_WIDTH, page.height))
    return jpeg(np.asarray(page), _QUALITY)


def write_list(title: str, files: Sequence[str], output: str, **made: list[str]) -> None:
    """The job that lists the `files` of a data set's tables and analyses, which are `made` before it runs."""
    lines = [f"Everything of {title} is made:", *files]
    write_text("".join(f"{line}\n" for line in lines), output)

"""Tables of results, as config/tables says: each section has Random, published rows with ours beside them, and ours.

Every measured metric comes from RETRIEVAL artifacts alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.files import write_text
from densevse.artifacts.schema import Schema
from densevse.artifacts.schemas.tables import RESULTS
from densevse.tables.footnotes import changed_settings, footnotes
from densevse.tables.layout import sheets
from densevse.tables.published import PublishedRow, read_paper, read_published
from densevse.tables.rendering import Document, Sheet
from densevse.tables.rows import Row, as_record
from densevse.tables.sections import Artifacts, Section, read_section


class Outputs(NamedTuple):
    """The four forms of a table."""

    markdown: str
    html: str
    csv: str
    parquet: str


class TableInputs(NamedTuple):
    """The files that a table is made from."""

    images: Sequence[str]  # IMAGES, one for each section that measures something
    captions: Sequence[str]  # CAPTIONS, one for each section that measures images
    retrievals: Sequence[str]  # RETRIEVAL, by section, then variant, then seed
    published: Sequence[str]  # config/published/<paper>.csv of each cited paper
    papers: Sequence[str]  # config/published/<paper>.yaml of the same papers


def make_table(inputs: TableInputs, settings: Mapping[str, Any], outputs: Outputs) -> None:
    """Make a table of results from artifacts' paths.

    `settings` holds title, reference, published (paper, table and rows of each printed table), sections (see
    `Section`), and entries: the configuration of what is used, by kind and name.
    """
    artifacts = Artifacts(iter(inputs.images), iter(inputs.captions), iter(inputs.retrievals))
    sections = [read_section(section, settings["entries"], artifacts) for section in settings["sections"]]
    printed = read_published(inputs.published)
    papers = {Path(file).stem: read_paper(file) for file in inputs.papers}
    shown = [(section, row) for section in sections for row in chosen(printed, settings["published"], section)]
    found, records = [], []
    for section in sections:
        theirs = [row for of, row in shown if of is section]
        rows = section.rows(theirs, papers, settings["reference"])
        found += _sheets(section, rows, settings["reference"])
        place = {key: section.settings[key] for key in ("dataset", "protocol")}
        records += [{**place, **as_record(row)} for row in rows]
    frame = pd.DataFrame(records, columns=[column.name for column in RESULTS.columns])
    changed = changed_settings(settings["sections"])
    document = Document(settings["title"], found, footnotes(settings, sections, shown, papers), changed)
    write_table(frame, RESULTS, document, settings, outputs)


def write_table(
    rows: pd.DataFrame, kind: Schema, shown: Document, settings: Mapping[str, Any], outputs: Outputs
) -> None:
    """Write a table in its four forms; bytes depend on rows and settings only."""
    shown.write(outputs.markdown, outputs.html)
    write_text(rows.to_csv(index=False, float_format="%.4f", lineterminator="\n"), outputs.csv)
    schema.write(rows, kind, outputs.parquet, {"settings": settings})


def chosen(rows: Iterable[PublishedRow], tables: Iterable[Mapping[str, Any]], section: Section) -> list[PublishedRow]:
    """The published rows that belong into a section, by printed table, then as printed."""
    rows = list(rows)
    place = (section.settings["published"] or section.settings["dataset"], section.settings["protocol"])
    return [
        row
        for printed in tables
        for row in rows
        if (row.paper, row.table) == (printed["paper"], printed["table"])
        and (row.dataset, row.protocol) == place
        and (printed["rows"] is None or row.method in printed["rows"])
    ]


def _sheets(section: Section, rows: Sequence[Row], reference: str | None) -> list[Sheet]:
    measured = section.settings["measured"]
    title = measured[reference]["title"] if reference in measured and len(measured) > 1 else None
    return sheets(rows, section.heading(), title)

"""Tables of results as config/tables defines: each section has Random, published rows beside ours, and our other rows.

Every measured metric is computed from RETRIEVAL artifacts only.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from densevse.artifacts.schemas.tables import RESULTS
from densevse.config.tables import PrintedTable
from densevse.report.footnotes import add_adopted_note, changed_settings, footnotes
from densevse.report.layout import sheets
from densevse.report.plan import TablePlan
from densevse.report.published import PublishedRow, read_paper, read_published_rows
from densevse.report.rendering import Document, Sheet, as_csv
from densevse.report.sections import MeasuredSection, Row, SectionArtifacts, as_record, read_section
from snakeproof import schema
from snakeproof.files import write_text
from snakeproof.schema import Schema
from snakeproof.strict import validate


class Outputs(NamedTuple):
    """The forms of a table."""

    markdown: str
    html: str
    latex: str
    csv: str
    parquet: str


def make_table(
    plan: Mapping[str, Any],
    images: Sequence[str] = (),
    captions: Sequence[str] = (),
    retrievals: Sequence[str] = (),
    published: Sequence[str] = (),
    papers: Sequence[str] = (),
    **outputs: str,
) -> None:
    """The job that makes a table of results from files in any order: `plan` is a `TablePlan`, `outputs` are `Outputs`.

    The files are IMAGES of each measured data set, and CAPTIONS except for regions; RETRIEVAL of each section, variant
    and seed; config/published/<paper>.csv of each cited paper, and its .yaml in `papers`. Raises `InputError` if an
    artifact of the plan is missing.
    """
    table = validate(TablePlan, plan, "the plan of the table")
    artifacts = SectionArtifacts.from_paths(images, captions, retrievals)
    sections = [read_section(section, artifacts) for section in table.sections]
    printed, files = read_published_rows(published), {Path(file).stem: file for file in papers}
    cited = {one.paper: read_paper(files[one.paper]) for one in table.published}
    shown = [(section, row) for section in sections for row in select_published_rows(printed, table.published, section)]
    found, records = [], []
    for section in sections:
        theirs = [row for of, row in shown if of is section]
        rows = section.rows(theirs, cited, table.reference)
        found += _sheets(section, rows, table.reference)
        place = {"dataset": section.plan.dataset, "protocol": section.plan.protocol}
        records += [{**place, **as_record(row)} for row in rows]
    frame = pd.DataFrame(records, columns=[column.name for column in RESULTS.columns])
    notes = footnotes(table, sections, shown, cited)
    document = Document(table.title, found, notes, changed_settings(table.sections))
    write_table(frame, RESULTS, document, Outputs(**outputs), table.latex_intervals)


def write_table(
    rows: pd.DataFrame, kind: Schema, shown: Document, outputs: Outputs, latex_intervals: bool = False
) -> None:
    """Writes a table in all its forms, with a note if it was made from adopted files."""
    add_adopted_note(shown).write(outputs.markdown, outputs.html, outputs.latex, latex_intervals)
    write_text(as_csv(rows), outputs.csv)
    schema.write(rows, kind, outputs.parquet)


def select_published_rows(
    rows: Iterable[PublishedRow], tables: Iterable[PrintedTable], section: MeasuredSection
) -> list[PublishedRow]:
    """The published rows of a section, by printed table, then as printed."""
    rows = list(rows)
    place = (section.plan.published or section.plan.dataset, section.plan.protocol)
    return [
        row
        for printed in tables
        for row in rows
        if (row.paper, row.table) == (printed.paper, printed.table)
        and (row.dataset, row.protocol) == place
        and (printed.rows is None or row.method in printed.rows)
    ]


def _sheets(section: MeasuredSection, rows: Sequence[Row], reference: str | None) -> list[Sheet]:
    measured = section.plan.measured
    title = measured[reference].title if reference in measured and len(measured) > 1 else None
    return sheets(rows, section.heading(), title)

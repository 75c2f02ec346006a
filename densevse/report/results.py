"""Tables of results as config/tables defines: each section has Random, published rows beside ours, and our other rows.

Every measured metric is computed from RETRIEVAL artifacts only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from densevse.config.tables import PrintedTable
from densevse.evaluation.metrics import RECALLS
from densevse.report.columns import METHOD, METRICS, RESULTS, MetricColumn
from densevse.report.footnotes import add_adopted_note, changed_settings, footnotes
from densevse.report.plan import TablePlan
from densevse.report.published import PublishedRow, read_paper, read_published_rows
from densevse.report.rendering import Document, Sheet, TableColumn, as_csv, number, range_cell
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
        found += sheets(rows, section.heading())
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


def sheets(rows: Sequence[Row], heading: str) -> list[Sheet]:
    """The sheets of a section: its metrics and, if something was measured, their 95% intervals."""
    measured = [row for row in rows if row.kind == "measured"]
    shown = shown_metrics(rows)
    reference = next((row.reference for row in measured if row.reference), None)
    found = [_metrics_sheet(rows, shown, heading, reference)]
    return [*found, _intervals_sheet(measured, shown, reference)] if measured else found


def shown_metrics(rows: Sequence[Row]) -> Sequence[MetricColumn]:
    """The papers' metrics and, for our rows, the recalls, Med r (Mean r if a paper prints it) and rsum."""
    headers = {METRICS[key].header for row in rows for key in row.printed} | {f"R@{k}" for k in RECALLS}
    if any(row.kind != "published" for row in rows):
        headers |= {"rsum"} | (set() if "Mean r" in headers else {"Med r"})
    return [column for column in METRICS.values() if column.header in headers]


class _Pair(NamedTuple):
    """A line of a section: a published row, and ours of the same method beside it, or one of both."""

    theirs: Row | None
    own: Row | None


def _metrics_sheet(rows: Sequence[Row], shown: Sequence[MetricColumn], heading: str, reference: str | None) -> Sheet:
    ours = {row.variant: row for row in rows if row.kind != "published"}
    published = [row for row in rows if row.kind == "published"]
    lines = [_Pair(None, ours["random"])] if "random" in ours else []
    lines += [_Pair(row, ours.get(row.variant)) for row in published]
    beside = {row.variant for row in published} | {"random"}
    lines += [_Pair(None, row) for variant, row in ours.items() if variant not in beside]
    gains = [] if reference is None else [_own_column(f"Gain on {reference}", gain, number=False)]
    spread = [_own_column("±", lambda own: number(own.rsum_spread if own.seeds else None))]
    has_spread = any(row.rsum_spread is not None for row in ours.values())
    metrics = [_own_metric(metric, "Our" if published else "") for metric in shown]
    measured = [*metrics, *(spread if has_spread else []), _SEEDS]
    if not published:
        made_by = _own_column("Variant and seeds", lambda own: own.source, number=False, in_latex=False)
        return Sheet.from_rows(heading, [_METHOD, *measured, *gains, made_by], [line for line in lines if line.own])
    printed = [column.printed("Published", _printed_cell(column.name)) for column in shown]
    return Sheet.from_rows(heading, [_METHOD, _SOURCE, *printed, _OURS, *measured, _DIFFERENCE, *gains], lines)


def _own_column(header: str, cell: Callable[[Row], str], **how: Any) -> TableColumn:
    """A column of our row; empty beside a published row without one."""
    return TableColumn(header, cell=lambda line: cell(line.own) if line.own else "", **how)


def _own_metric(metric: MetricColumn, whose: str) -> TableColumn:
    return metric.printed(whose, _own_column("", lambda own: number(own.metrics[metric.name], metric.name)).cell)


def _printed_cell(name: str) -> Callable[[_Pair], str]:
    return lambda line: line.theirs.printed.get(name, "") if line.theirs else ""


_METHOD = TableColumn("Method", number=False, cell=lambda line: (line.theirs or line.own).method)
_SOURCE = TableColumn("Source", number=False, cell=lambda line: line.theirs.source if line.theirs else "")
_OURS = _own_column("Ours", lambda own: own.variant, number=False)
_SEEDS = _own_column("Seeds", lambda own: str(own.seeds or ""))
_DIFFERENCE = TableColumn(
    "Difference", cell=lambda line: number(line.theirs.difference if line.theirs else None, sign="+")
)


def gain(own: Row) -> str:
    """The gain in rsum, called better or worse only if its interval excludes 0; a single seed is marked."""
    if own.gain is None or own.gain_interval is None:
        return ""
    written = number(own.gain, sign="+")
    if not own.gain_interval.excludes_zero:
        return written
    judged = "better" if own.gain > 0 else "worse"
    return f"{written} {judged}{' (one seed)' if own.seeds == 1 else ''}"


def _intervals_sheet(measured: Sequence[Row], shown: Sequence[MetricColumn], reference: str | None) -> Sheet:
    intervals = [metric.printed(cell=range_cell(metric.name)) for metric in shown]
    gains = [] if reference is None else [TableColumn(f"Gain on {reference}", cell=range_cell("gain", "+"))]
    columns = [METHOD, TableColumn("Ours", number=False, cell=itemgetter("variant")), *intervals, *gains]
    return Sheet.from_rows("95% intervals of our metrics", columns, map(as_record, measured), intervals=True)

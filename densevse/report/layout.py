"""The layout of a section's rows: published metrics with ours beside them, and our intervals below."""

from collections.abc import Sequence
from typing import Literal

from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.report.rendering import Sheet, TableColumn, number, number_range
from densevse.report.sections import Row

METHOD, SPREAD, SEEDS = TableColumn("Method", number=False), TableColumn("±"), TableColumn("Seeds")
_MADE_BY = TableColumn("Variant and seeds", number=False, in_latex=False)
METRIC_HEADERS = {**{f"r{k}": f"R@{k}" for k in RECALLS}, "median_rank": "Med r", "mean_rank": "Mean r"}
"""The column header of each metric of a direction."""
TOTAL_HEADERS = {"rsum": "rsum", "mean_recall": "mR"}
"""The column header of each metric that sums up both directions."""
Shown = list[tuple[str, str, str]]
"""The metrics that a section shows, each as (key, group, header)."""


def sheets(rows: Sequence[Row], heading: str, reference: str | None) -> list[Sheet]:
    """The sheets of a section: its metrics and, if something was measured, their 95% intervals.

    `reference` is the title of the row with which the others are compared, or None.
    """
    measured = [row for row in rows if row.kind == "measured"]
    shown = shown_metrics(rows)
    found = [_metrics_sheet(rows, shown, heading, reference)]
    return [*found, _intervals_sheet(measured, shown, reference)] if measured else found


def shown_metrics(rows: Sequence[Row]) -> Shown:
    """The papers' metrics and, for our rows, the recalls, Med r (Mean r if a paper prints it) and rsum."""
    printed = {key.removeprefix(f"{side}_") for row in rows for key in row.printed for side in DIRECTIONS}
    means = "mean_rank" in printed
    if any(row.kind != "published" for row in rows):
        printed |= {"rsum"} | (set() if means else {"median_rank"})
    recalls = {f"r{k}" for k in RECALLS}
    headers = {key: header for key, header in METRIC_HEADERS.items() if key in printed | recalls}
    shown = [(f"{side}_{key}", side, header) for side in DIRECTIONS for key, header in headers.items()]
    return [*shown, *((key, "", header) for key, header in TOTAL_HEADERS.items() if key in printed)]


def _metrics_sheet(rows: Sequence[Row], shown: Shown, heading: str, reference: str | None) -> Sheet:
    ours = {row.variant: row for row in rows if row.kind != "published"}
    published = [row for row in rows if row.kind == "published"]
    lines: list[tuple[Row | None, Row | None]] = [(None, ours["random"])] if "random" in ours else []
    lines += [(row, ours.get(row.variant)) for row in published]
    beside = {row.variant for row in published} | {"random"}
    lines += [(None, row) for variant, row in ours.items() if variant not in beside]
    gains = [] if reference is None else [TableColumn(f"Gain on {reference}", number=False)]
    tail = [SPREAD, SEEDS]
    if published:
        columns = [METHOD, TableColumn("Source", number=False), *_columns(shown, "Published")]
        columns += [
            TableColumn("Ours", number=False),
            *_columns(shown, "Our"),
            *tail,
            TableColumn("Difference"),
            *gains,
        ]
        cells = [_line(theirs, own, shown, bool(gains)) for theirs, own in lines]
    else:
        columns = [METHOD, *_columns(shown, ""), *tail, *gains, _MADE_BY]
        cells = [_own_line(own, shown, bool(gains)) for _, own in lines if own]
    return Sheet(heading, tuple(columns), cells)


def _line(theirs: Row | None, own: Row | None, shown: Shown, gained: bool) -> list[str]:
    """Cells of a published row (None without one) and of ours (None if not measured)."""
    named = theirs or own
    return [
        named.method if named else "",
        theirs.source if theirs else "",
        *(theirs.printed.get(key, "") if theirs else "" for key, _, _ in shown),
        own.variant if own else "",
        *_measured_cells(own, shown),
        number(theirs.difference if theirs else None, sign="+"),
        *([gain(own)] if gained else []),
    ]


def _own_line(own: Row, shown: Shown, gained: bool) -> list[str]:
    return [own.method, *_measured_cells(own, shown), *([gain(own)] if gained else []), own.source]


def _measured_cells(own: Row | None, shown: Shown) -> list[str]:
    if own is None:
        return [""] * (len(shown) + 2)
    metrics = [number(own.metrics[key], key) for key, _, _ in shown]
    return [*metrics, *([number(own.rsum_spread), str(own.seeds)] if own.seeds else ["", ""])]


def gain(own: Row | None) -> str:
    """The gain in rsum, called better or worse only if its interval excludes 0; a single seed is marked."""
    if own is None or own.gain is None or own.gain_interval is None:
        return ""
    written = number(own.gain, sign="+")
    if not own.gain_interval.excludes_zero:
        return written
    judged = "better" if own.gain > 0 else "worse"
    return f"{written} {judged}{' (one seed)' if own.seeds == 1 else ''}"


def _intervals_sheet(measured: Sequence[Row], shown: Shown, reference: str | None) -> Sheet:
    columns = [METHOD, TableColumn("Ours", number=False), *_columns(shown, "")]
    columns += [] if reference is None else [TableColumn(f"Gain on {reference}")]
    cells = []
    for row in measured:
        line = [row.method, row.variant, *(number_range(row.intervals[key], key) for key, _, _ in shown)]
        cells.append([*line, *([] if reference is None else [number_range(row.gain_interval, sign="+")])])
    return Sheet("95% intervals of our metrics", tuple(columns), cells, intervals=True)


def _columns(shown: Shown, whose: str) -> list[TableColumn]:
    return [
        TableColumn(header, f"{whose} {group}".strip(), short=group, best=preferred_extreme(key))
        for key, group, header in shown
    ]


def preferred_extreme(key: str) -> Literal["highest", "lowest"]:
    """The better extreme of a metric: the lowest rank, the highest recall."""
    return "lowest" if key.endswith("rank") else "highest"

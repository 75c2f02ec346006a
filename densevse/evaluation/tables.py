"""Tables of results: Random, then every published row with ours beside it, then ours that no paper printed.

Every measured figure comes from RETRIEVAL artifacts alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.files import write_text
from densevse.artifacts.schema import Schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tables import RESULTS
from densevse.evaluation.chance import expected_figures
from densevse.evaluation.foot import notes, title
from densevse.evaluation.protocols import TestSet, folds, select_split
from densevse.evaluation.published import FIGURE_COLUMNS, read_papers, read_published
from densevse.evaluation.recall import DIRECTIONS, RECALLS, figures_of
from densevse.evaluation.rendering import Column, Document

RECALL_COLUMNS = tuple(f"{direction}_r{k}" for direction in DIRECTIONS for k in RECALLS)


class Outputs(NamedTuple):
    """The four forms of a table."""

    markdown: str
    html: str
    csv: str
    parquet: str


@dataclass(frozen=True)
class Measured:
    """A variant's measurements: its title as printed, and a RETRIEVAL artifact a seed."""

    variant: str
    title: str
    retrievals: dict[int, pd.DataFrame]


def make_table(
    images: str,
    captions: str,
    retrievals: list[str],
    published: list[str],
    papers: str,
    settings: Mapping[str, Any],
    outputs: Outputs,
) -> None:
    """Make a table of results from artifacts' paths.

    `settings` holds title, protocol, published (the data set's key there, or None), measured (variant -> seeds; the
    `retrievals` come in this order), and the entries dataset, variants and networks of the configuration.
    """
    image_table = schema.read(images, IMAGES)
    test_set = select_split(image_table, schema.read(captions, CAPTIONS))
    known = read_papers(papers)
    printed = read_published(published, known)
    printed = printed[printed["dataset"] == (settings["published"] or "")]
    files = iter(retrievals)
    measured = [
        Measured(
            name, settings["variants"][name]["title"], {seed: schema.read(next(files), RETRIEVAL) for seed in seeds}
        )
        for name, seeds in settings["measured"].items()
    ]
    rows = results(
        random_row(test_set, settings["protocol"]),
        published_rows(printed, known),
        [measured_row(one) for one in measured],
        settings["protocol"],
    )
    cited = [paper for key, paper in known.items() if key in set(printed["paper"])]
    made_from = [schema.check(file, RETRIEVAL) for file in retrievals]
    foot = notes(settings, cited, test_set, image_table, made_from)
    write_table(rows, RESULTS, document(rows, title(settings, test_set), foot), settings, outputs)


def write_table(
    rows: pd.DataFrame, kind: Schema, shown: Document, settings: Mapping[str, Any], outputs: Outputs
) -> None:
    """Write a table in its four forms; bytes depend on rows and settings only."""
    write_text(shown.markdown(), outputs.markdown)
    write_text(shown.html(), outputs.html)
    write_text(rows.to_csv(index=False, float_format="%.4f", lineterminator="\n"), outputs.csv)
    schema.write(rows, kind, outputs.parquet, {"settings": settings})


def random_row(test_set: TestSet, protocol: str) -> dict[str, Any]:
    """The Random row of a RESULTS artifact."""
    found = expected_figures(test_set, folds(test_set, protocol))
    return _row("Random", "random", "expected, by formula, on these images and sentences", "random", found)


def published_rows(published: pd.DataFrame, papers: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """The published rows of a RESULTS artifact."""
    return [
        _row(row["method"], "published", source(row, papers), row["variant"], {key: row[key] for key in FIGURE_COLUMNS})
        for _, row in published.iterrows()
    ]


def source(row: Any, papers: Mapping[str, Mapping[str, str]]) -> str:
    """Where a published row stands: paper, table and, where it is not the usual one, protocol."""
    table = f"Table {row['table']}" if row["table"] else "table"
    starred = f" ({row['protocol']})" if row["protocol"] != "full" else ""
    return f"{papers[row['paper']]['name']}, {table}{starred}"


def measured_row(measured: Measured) -> dict[str, Any]:
    """A measured row: figures are means over seeds, `sum_spread` is the standard deviation of Sum over them."""
    figures = pd.DataFrame([figures_of(retrieval) for retrieval in measured.retrievals.values()])
    spread = float(figures["sum"].std(ddof=1))
    seeds = ", ".join(map(str, measured.retrievals))
    named = f"{measured.variant}, seed{'s' if len(figures) > 1 else ''} {seeds}"
    row = _row(measured.title, "measured", named, measured.variant, dict(figures.mean()))
    return {**row, "sum_spread": spread, "seeds": len(figures)}


def results(
    chance: dict[str, Any], published: list[dict[str, Any]], measured: list[dict[str, Any]], protocol: str
) -> pd.DataFrame:
    """The rows of a RESULTS artifact: Random, published, measured; published rows know their difference from ours."""
    ours = {row["variant"]: row for row in (chance, *measured)}
    for row in published:
        starred = row["source"].endswith("(hodosh)")
        if row["variant"] in ours and starred == (protocol == "hodosh"):
            row["difference"] = _difference(ours[row["variant"]], row)
    return pd.DataFrame([chance, *published, *measured], columns=[column.name for column in RESULTS.columns])


def document(rows: pd.DataFrame, heading: str, foot: list[str]) -> Document:
    """The table as printed: Random, a published row and ours on one line, then ours without a published row."""
    published = rows[rows["kind"] == "published"]
    ours = {row["variant"]: row for _, row in rows[rows["kind"] != "published"].iterrows()}
    beside = set(published.loc[published["difference"].notna(), "variant"])
    lines: list[tuple[Any, Any]] = [(None, ours["random"])]
    lines += [(row, ours[row["variant"]] if pd.notna(row["difference"]) else None) for _, row in published.iterrows()]
    lines += [(None, row) for variant, row in ours.items() if variant not in beside | {"random"}]
    shown = _shown(published)
    if published.empty:
        columns = (METHOD, *_figure_columns(shown, ""), SPREAD, SEEDS, Column("Variant and seeds", number=False))
        cells = [[row["method"], *_figures(row, shown), *_seeds(row), row["source"]] for _, row in lines]
    else:
        columns = (METHOD, Column("Source", number=False), *_figure_columns(shown, "Published"))
        columns += (Column("Ours", number=False), *_figure_columns(shown, "Our"), SPREAD, SEEDS, Column("Difference"))
        cells = [_line(theirs, own, shown) for theirs, own in lines]
    return Document(heading, columns, cells, foot)


METHOD, SPREAD, SEEDS = Column("Method", number=False), Column("±"), Column("Seeds")


def _line(theirs: Any, own: Any, shown: list[tuple[str, str, str]]) -> list[str]:
    """Cells of a published row (None without one) and ours (None where not measured)."""
    named = own if theirs is None else theirs
    source = "" if theirs is None else theirs["source"]
    difference = "" if theirs is None or own is None else f"{theirs['difference']:+.1f}"
    ours = "" if own is None else own["variant"]
    return [named["method"], source, *_figures(theirs, shown), ours, *_figures(own, shown), *_seeds(own), difference]


def _figures(row: Any, shown: list[tuple[str, str, str]]) -> list[str]:
    return ["" if row is None else (_rank if key.endswith("rank") else _number)(row[key]) for key, _, _ in shown]


def _seeds(row: Any) -> list[str]:
    return ["", ""] if row is None or not row["seeds"] else [_number(row["sum_spread"]), str(row["seeds"])]


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f}"


def _rank(value: float) -> str:
    return _number(value).removesuffix(".0")


def _shown(published: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The figures that a table shows, as (key, group, header): Mean r only where a paper prints it, as on Pascal1K."""
    means = bool(published["annotation_mean_rank"].notna().any())
    medians = bool(published["annotation_median_rank"].notna().any()) or not means
    headers = {f"r{k}": f"R@{k}" for k in RECALLS}
    headers |= {"median_rank": "Med r"} if medians else {}
    headers |= {"mean_rank": "Mean r"} if means else {}
    shown = [(f"{side}_{key}", side, header) for side in DIRECTIONS for key, header in headers.items()]
    return [*shown, ("sum", "", "Sum")]


def _figure_columns(shown: list[tuple[str, str, str]], whose: str) -> tuple[Column, ...]:
    return tuple(Column(header, f"{whose} {group}".strip().capitalize(), short=group) for _, group, header in shown)


def _row(method: str, kind: str, source: str, variant: str, figures: Mapping[Any, Any]) -> dict[str, Any]:
    empty = {"sum_spread": None, "seeds": 0, "difference": None}
    return {"method": method, "kind": kind, "source": source, "variant": variant, **figures, **empty}


def _difference(own: Mapping[str, Any], theirs: Mapping[str, Any]) -> float | None:
    """Ours minus theirs, summed over the recalls that they print."""
    printed = [key for key in RECALL_COLUMNS if pd.notna(theirs[key])]
    return float(sum(own[key] - theirs[key] for key in printed)) if printed else None

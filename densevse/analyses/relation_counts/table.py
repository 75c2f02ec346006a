"""The table of dependency relations (DeFrag, section 4): their number, those that are kept, and the triplets lost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from densevse.artifacts.schemas.sentences import FRAGMENTS
from densevse.report.published import read_rows, required_text, whole_number
from densevse.report.rendering import Document, Sheet, TableColumn
from snakeproof.schema import read

PUBLISHED_RELATIONS = {"dataset": required_text, "relations": whole_number, "frequent_relations": whole_number}
_PARTS = {"all": "the whole data set", "train": "training"}
_COLUMNS = (
    *(TableColumn(name, number=False) for name in ("Dependencies", "Counted over")),
    *map(TableColumn, ("Sentences", "Relations", "At least 1%", "Triplets", "Rare relation %", "Unknown word %")),
    *map(TableColumn, ("Kept", "Most in a sentence", "Sentences without")),
)
_NOTES = [
    "A relation is rare if less than 1% of a part's triplets have it. The paper counts over the whole data set; "
    "methods read the relations that are frequent in training.",
    "Rare relation, unknown word: the share of triplets that a method drops because their relation is rare in "
    "training, and of those with a frequent relation that it drops because of an unknown word. Known words have a "
    "pre-trained vector or, if the data set uses none, are in its vocabulary.",
    "Published: Karpathy et al. 2014, section 4, collapsed dependencies by the Stanford parser of that time.",
]


def write_table(
    enhanced: str,
    basic: str,
    published: str,
    title: str,
    markdown: str,
    html: str,
    latex: str,
    wildcards: Mapping[str, str],
) -> None:
    """The job that writes a data set's table from the FRAGMENTS artifacts of enhanced and of basic dependencies."""
    counted = {kind: read(file, FRAGMENTS) for kind, file in {"enhanced": enhanced, "basic": basic}.items()}
    table(title, counted, read_published_counts(published, wildcards["dataset"])).write(markdown, html, latex)


def read_published_counts(file: str | Path, dataset: str) -> list[dict[str, Any]]:
    """The paper's counts for a data set, in published/defrag.csv: one row or none."""
    return [row for row in read_rows(file, PUBLISHED_RELATIONS) if row["dataset"] == dataset]


def table(title: str, counted: Mapping[str, pd.DataFrame], published: Sequence[Mapping[str, Any]]) -> Document:
    """FRAGMENTS rows by the kind of dependencies, below the published counts for the data set."""
    theirs = [["collapsed, published", _PARTS["all"], "", *_counts(row), *[""] * 6] for row in published]
    ours = [
        _fragment_cells(kind, row)
        for kind, fragments in counted.items()
        for row in fragments.set_index("part").loc[list(_PARTS)].reset_index().to_dict("records")
    ]
    return Document(f"{title}: relations between words", [Sheet("", _COLUMNS, theirs + ours)], _NOTES)


def _fragment_cells(kind: str, row: Mapping[Any, Any]) -> list[str]:
    shares = (f"{100 * row[name]:.2f}" for name in ("rare_relation", "unknown_word"))
    sizes = (f"{row[name]:,}" for name in ("kept", "longest", "without"))
    return [kind, _PARTS[row["part"]], f"{row['sentences']:,}", *_counts(row), f"{row['triplets']:,}", *shares, *sizes]


def _counts(row: Mapping[Any, Any]) -> tuple[str, str]:
    return str(row["relations"]), str(row["frequent_relations"])

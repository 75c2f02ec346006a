"""The figures that the papers print, entered as data in config/published."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import yaml

from densevse.errors import InputError
from densevse.evaluation.recall import DIRECTIONS, FIGURES

FIGURE_COLUMNS = (*(f"{direction}_{figure}" for direction in DIRECTIONS for figure in FIGURES), "sum", "mean_recall")
COLUMNS = ("dataset", "paper", "table", "method", "protocol", "variant", *FIGURE_COLUMNS, "note")


def read_published(files: Iterable[str | Path], papers: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """All published rows, in the order of `papers` and then as printed; a figure that is not printed is NaN.

    Raises `InputError` naming the file for a column or paper that is missing or unknown, or a figure that is none.
    """
    parts = [_read(file) for file in files]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
    unknown = sorted(set(rows["paper"]) - set(papers))
    if unknown:
        raise InputError(f"config/published: papers.yaml has no entry for {unknown}; add one for each.")
    order = {paper: number for number, paper in enumerate(papers)}
    return rows.sort_values("paper", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def read_papers(file: str | Path) -> dict[str, dict[str, str]]:
    """What config/published/papers.yaml says of each paper: its name, title, and what its figures were made with."""
    papers: dict[str, dict[str, str]] = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    for key, paper in papers.items():
        if set(paper) != {"name", "title", "used"}:
            raise InputError(f"{file}: {key} must have the keys name, title and used, and no others.")
    return papers


def _read(file: str | Path) -> pd.DataFrame:
    rows = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    if tuple(rows.columns) != COLUMNS:
        raise InputError(f"{file}: the columns must be {', '.join(COLUMNS)}; found {', '.join(rows.columns)}.")
    for column in FIGURE_COLUMNS:
        try:
            rows[column] = pd.to_numeric(rows[column].replace("", None))
        except ValueError as error:
            raise InputError(f"{file}: column {column}: {error}") from None
    return rows.astype(dict.fromkeys(FIGURE_COLUMNS, float))

"""The means of a table of caption oracles over resplits of a data set, from CAPTION_SCORES."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.caption_scores.oracle_table import (
    WRITTEN,
    difference_cell,
    notes_on_making,
    notes_on_rows,
    oracle_rows,
)
from densevse.analyses.caption_scores.plan import CaptionOracleMeansPlan
from densevse.analyses.caption_scores.schemas import CAPTION_ORACLE_MEANS, DIFFERENCES
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.captions import CAPTION_SCORES
from densevse.statistics.intervals import interval_over_resplits
from densevse.tables.rendering import Document, Sheet, TableColumn, number
from densevse.tables.resplits import INTERVAL, means_over
from densevse.tables.results import Outputs, write_table

_SAME = ("writer", "method", "known", "selection", "seeds")
_COLUMNS = (
    *WRITTEN,
    TableColumn("BLEU-4", best="highest"),
    TableColumn("CIDEr", best="highest"),
    *(TableColumn(header) for header in ("Gain", "Each resplit", "Lead", "Each resplit")),
)


def make_oracle_means(scores: Sequence[str], plan: CaptionOracleMeansPlan, outputs: Outputs) -> None:
    """Makes the table from the CAPTION_SCORES artifacts of all resplits, in any order.

    Raises `InputError` if one is missing.
    """
    index = ArtifactIndex(scores, CAPTION_SCORES)
    found = pd.concat([oracle_rows(index, each).assign(resplit=each.dataset) for each in plan.resplits])
    of_writers = found.groupby("writer", sort=False)
    frame = pd.DataFrame([_record(rows, plan.test / plan.train) for _, rows in of_writers])
    frame = frame[[column.name for column in CAPTION_ORACLE_MEANS.columns]]
    heading = means_over(len(plan.resplits), plan.train, plan.test).capitalize()
    sheet = Sheet(heading, _COLUMNS, [_cells(row) for _, row in frame.iterrows()])
    write_table(frame, CAPTION_ORACLE_MEANS, Document(plan.title, [sheet], _notes(plan)), plan, outputs)


def _record(rows: pd.DataFrame, test_to_train: float) -> dict[str, Any]:
    """A row of CAPTION_ORACLE_MEANS, from that of each resplit."""
    record: dict[str, Any] = {name: rows.iloc[0][name] for name in _SAME}
    record |= {name: float(rows[name].mean()) for name in ("bleu_4", "cider")}
    record["resplits"] = rows["resplit"].tolist()
    for name in DIFFERENCES:
        each = rows[name].dropna().tolist()
        low, high = interval_over_resplits(each, test_to_train) if each else (np.nan, np.nan)
        record |= {name: np.mean(each) if each else np.nan, f"{name}_low": low, f"{name}_high": high, f"{name}s": each}
    return record


def _notes(plan: CaptionOracleMeansPlan) -> list[str]:
    first = plan.resplits[0]
    return [
        *notes_on_rows(first),
        "Rows that not all resplits have are left out.",
        f"Gains and leads are means over resplits. In brackets: the 95% interval of a mean. {INTERVAL}",
        *notes_on_making(plan, first.rows, f"{plan.dataset}_resplits_caption_oracles"),
    ]


def _cells(row: pd.Series) -> list[str]:
    cells = [row["method"], row["known"], row["selection"], number(row["bleu_4"]), number(row["cider"])]
    for name in DIFFERENCES:
        cells += [difference_cell(row, name), ", ".join(number(value, sign="+") for value in row[f"{name}s"])]
    return cells

"""The choice among a row's draws, on val: a shortlist by one training, and its mean over other seeds."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from densevse.artifacts.schemas.training import HISTORY
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, Column, Schema

SHORTLIST = Schema(
    "shortlist",
    "a draw of a row's settings on the shortlist, trained with one more seed",
    (
        Column("draw", NUMBER, "its number; 0 has the configured settings"),
        Column("val_rsum", REAL, "rsum on val of the epoch that was kept"),
    ),
)
CHOICE = Schema(
    "choice",
    "a draw of a row's settings, in order",
    (
        Column("draw", NUMBER, "its number; 0 has the configured settings"),
        Column("val_rsum", REAL, "rsum on val of its first training, which decides the shortlist"),
        Column("val_again", pa.list_(pa.float64()), "the same with each further seed; empty off the shortlist"),
        Column("chosen", pa.bool_(), "whether it has the largest mean over the further seeds"),
    ),
)


def choose_draw(histories: Sequence[str], shortlists: Sequence[str], output: str, within: float) -> None:
    """The job that chooses among a row's draws (CHOICE): `histories` has the HISTORY of each, in order.

    `shortlists` has the SHORTLIST of each further seed.
    """
    first = [kept_rsum(path) for path in histories]
    found = [schema.read(path, SHORTLIST).set_index("draw")["val_rsum"] for path in shortlists]
    again: dict[int, list[float]] = {
        number: [float(of_seed[number]) for of_seed in found] for number in shortlisted_draws(first, within)
    }
    best = max(again, key=lambda number: float(np.mean(again[number])))  # the first of equals
    rows = [
        {"draw": number, "val_rsum": rsum, "val_again": again.get(number, []), "chosen": number == best}
        for number, rsum in enumerate(first)
    ]
    schema.write(rows, CHOICE, output)


def shortlisted_draws(val: Sequence[float], within: float) -> list[int]:
    """The numbers of the draws whose rsum on val is at most so far below the best."""
    return [number for number, rsum in enumerate(val) if rsum >= max(val) - within]


def chosen_draw(choice: pd.DataFrame) -> int:
    """The number of the chosen draw of a CHOICE."""
    return int(choice["chosen"].to_numpy().argmax())


def kept_rsum(history: str) -> float:
    """Rsum on val of the epoch that a training (HISTORY) kept."""
    rows = schema.read(history, HISTORY)
    (kept,) = rows.loc[rows["best"], "rsum"]
    return float(kept)

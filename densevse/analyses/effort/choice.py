"""The choice among a row's draws, on val."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from densevse.artifacts.schemas.training import HISTORY
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, Column, Schema

DRAWS = Schema(
    "draws",
    "a draw of a row's settings, in order",
    (
        Column("draw", NUMBER, "its number; 0 has the configured settings"),
        Column("val_rsum", REAL, "rsum on val of the epoch that was kept"),
        Column("seconds", REAL, "wall-clock time of all its epochs, seconds"),
    ),
)


def choose_draw(histories: Sequence[str], output: str) -> None:
    """The job that lists a row's draws (DRAWS): `histories` has the HISTORY of each, in order."""
    rows = [_draw_record(number, schema.read(path, HISTORY)) for number, path in enumerate(histories)]
    schema.write(rows, DRAWS, output)


def _draw_record(number: int, history: pd.DataFrame) -> dict[str, Any]:
    (kept,) = history.loc[history["best"], "rsum"]
    return {"draw": number, "val_rsum": float(kept), "seconds": float(history["seconds"].sum())}


def chosen_draw(draws: pd.DataFrame) -> int:
    """The number of the draw with the largest rsum on val; the first of equals."""
    return int(draws["val_rsum"].to_numpy().argmax())

"""Matches the rows of given matrices with the ids of images and sentences."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.matrices import read_row_ids
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError

Ids = NDArray[np.object_]
_SHOWN = 5


class Items(NamedTuple):
    """The images or the sentences of a test split."""

    kind: str  # image or caption
    known: Ids  # all of the split
    documented: Ids  # those that the data set ranks, in the order of images.parquet, or by image and position
    ranked: Ids  # the readable ones of the test set
    needed: Indices  # the rows of `ranked` that the protocol ranks


def read_ids(path: str | Path) -> Ids:
    """The ids of a file: one a line, or an array of text or integers (npy). Raises `InputError` for others."""
    if Path(path).suffix != ".npy":
        return np.array(read_row_ids(path), dtype=object)
    try:
        found = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of ids.") from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path}: not readable as ids ({error}); write one id a line, as text in UTF-8.") from error
    if found.ndim != 1 or found.dtype.kind not in "Uiu":
        raise InputError(
            f"{path}: expected a list of ids, as text or whole numbers, found {found.dtype} of shape {found.shape}; "
            "write one id a line."
        )
    ids: Ids = found.astype(str).astype(object)
    return ids


def rows_of(items: Items, ids: Ids, where: str) -> Indices:
    """The row of each ranked item among `ids`, or -1 for an item that the protocol does not need.

    Raises `InputError` that names repeated, unknown or missing ids; `where` is their file.
    """
    index = pd.Index(ids)
    _refuse(index[index.duplicated()], f"{where}: these {items.kind}_ids stand there twice", "leave one of each")
    known = pd.Index(items.known)
    known_as = f"they are those of the column {items.kind}_id of {items.kind}s.parquet, of the split test"
    _refuse(index[~index.isin(known)], f"{where}: these {items.kind}_ids are unknown", known_as)
    rows: Indices = index.get_indexer(pd.Index(items.ranked)).astype(np.int64)
    missing = items.ranked[items.needed][rows[items.needed] < 0]
    _refuse(
        pd.Index(missing), f"{where}: these {items.kind}_ids are missing", "add their rows, or use another protocol"
    )
    return rows


def _refuse(wrong: pd.Index, what: str, advice: str) -> None:
    if len(wrong):
        some = ", ".join(map(repr, wrong[:_SHOWN])) + (f" and {len(wrong) - _SHOWN:,} more" * (len(wrong) > _SHOWN))
        raise InputError(f"{what}: {some}; {advice}.")

"""The files of CxC (Parekh et al., Crisscrossed Captions, EACL 2021): ratings of pairs from 0 to 5, means over people.

`sts_test.csv` is of two sentences, `sis_test.csv` of two images, and `sits_test.csv` of a sentence and an image. Images
are named by MS-COCO's files (COCO_val2014_000000205866.jpg), sentences by its annotations (COCO_val2014:sentid:411553).
"""

import re

import pandas as pd

from densevse.analyses.cxc.settings import TASKS
from snakeproof.errors import InputError

_NUMBER = {"caption": re.compile(r":sentid:(\d+)$"), "image": re.compile(r"_0*(\d+)\.jpg$")}


def coco_number(kind: str, name: str) -> int | None:
    """MS-COCO's number of a caption or image by its name in CxC; None for another form of name."""
    found = _NUMBER[kind].search(name)
    return int(found[1]) if found else None


def pair_kinds(task: str) -> tuple[str, str]:
    """The kinds of a pair: caption or image."""
    first, second = (column.rstrip("12") for column in TASKS[task])
    return first, second


def read_ratings(path: str, task: str) -> pd.DataFrame:
    """The columns first, second (MS-COCO's numbers) and rating of the file of a task.

    Raises `InputError` that names a missing column, or the row of a name of another form, a rating beyond 0 to 5, or a
    pair that is there before. The official file has some pairs of images in both orders.
    """
    try:
        found = pd.read_csv(path, dtype=str, na_filter=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable as CSV in UTF-8 ({error}); copy it again.") from error
    missing = [name for name in (*TASKS[task], "agg_score") if name not in found]
    if missing:
        raise InputError(f"{path}: no column {missing[0]}; CxC's file has {', '.join(TASKS[task])} and agg_score.")
    rows = pd.DataFrame({"rating": pd.to_numeric(found["agg_score"], errors="coerce")})
    for name, column, kind in zip(("first", "second"), TASKS[task], pair_kinds(task), strict=True):
        rows[name] = [coco_number(kind, text) for text in found[column]]
    wrong = rows.isna().any(axis=1) | ~rows["rating"].between(0, 5)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise InputError(f"{path}, row {row + 1}: {found.iloc[row].tolist()} is not two names of MS-COCO and a rating.")
    twice = rows.duplicated(["first", "second"]).to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"{path}, row {row + 1}: {found.iloc[row].tolist()} is of a pair that is there before, as {twice.sum():,} "
            "rows are; keep one."
        )
    return rows.astype({"first": "int64", "second": "int64"})

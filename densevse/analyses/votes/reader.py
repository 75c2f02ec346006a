"""Reads people's votes on a ballot of learned correspondences from a user's CSV file.

    pair,voter,correct
    1-7c21f09b,Anna,yes
    1-7c21f09b,Ben,no

Pairs have their names on the ballot's page.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from densevse.analyses.votes.schemas import BALLOT, VOTES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.datasets.texts import numbered_lines
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

_COLUMNS = [column.name for column in VOTES.columns]
_ANSWERS = {"yes": True, "no": False}


def write_votes(text: str, ballot: str, output: str, wildcards: Mapping[str, str]) -> None:
    """The job that reads the votes on a variant's BALLOT artifact from the file `text`, and writes them as VOTES.

    Raises `InputError` as `read_votes` does.
    """
    votes = read_votes(text, set(schema.read(ballot, BALLOT, ["pair"])["pair"]))
    logger.info("%d votes of %d people on %d pairs", len(votes), votes["voter"].nunique(), votes["pair"].nunique())
    made_from = lineage({"votes": Path(text).name}, {"ballot": ballot})
    schema.write(votes, VOTES, output, made_from, Identity.of(wildcards))


def read_votes(text: str, pairs: set[str]) -> pd.DataFrame:
    """VOTES rows of the file `text`; `pairs` are those of the ballot.

    Raises `InputError` that names the line of an invalid vote, and for a file without votes.
    """
    lines = [(number, _fields(line, f"{text}, line {number}")) for number, line in _lines(text)]
    if len(lines) < 2:
        raise InputError(
            f"{text}: expected a line with {','.join(_COLUMNS)} and one line for each vote; it has no vote."
        )
    if lines[0][1] != _COLUMNS:
        raise InputError(f"{text}, line {lines[0][0]}: expected the columns {','.join(_COLUMNS)}; found {lines[0][1]}.")
    rows: dict[tuple[str, str], bool] = {}
    for number, fields in lines[1:]:
        where = f"{text}, line {number}"
        pair, voter, correct = _vote(fields, pairs, where)
        if (pair, voter) in rows:
            raise InputError(f"{where}: {voter} has voted on pair {pair} before; leave one of the two lines.")
        rows[pair, voter] = correct
    return pd.DataFrame([(*key, correct) for key, correct in rows.items()], columns=_COLUMNS)


def _lines(text: str) -> list[tuple[int, str]]:
    return numbered_lines(Path(text).read_bytes(), text, "utf-8")


def _fields(line: str, where: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        raise InputError(f"{where}: expected {','.join(_COLUMNS)}, found {line[:80]!r} ({error}).") from None


def _vote(fields: list[str], pairs: set[str], where: str) -> tuple[str, str, bool]:
    if len(fields) != len(_COLUMNS):
        raise InputError(f"{where}: expected a pair, a voter, and yes or no; found {fields}.")
    pair, voter, answer = fields
    if pair not in pairs:
        raise InputError(
            f"{where}: the ballot has no pair {pair!r}. A pair's name changes with what it shows, so votes on an "
            "earlier ballot (of other correspondences or another seed) are not counted; ask for votes on this one."
        )
    if not voter:
        raise InputError(f"{where}: the vote on pair {pair} names no voter.")
    if answer not in _ANSWERS:
        raise InputError(f"{where}: expected yes or no, found {answer!r}; leave out lines without an answer.")
    return pair, voter, _ANSWERS[answer]

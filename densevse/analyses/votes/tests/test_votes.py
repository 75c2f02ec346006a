"""People's votes: every line that cannot be counted is refused by its number."""

import pytest

from densevse.analyses.votes.reader import read_votes, write_votes
from densevse.analyses.votes.schemas import BALLOT, VOTES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import made_from
from densevse.runtime.errors import InputError

PAIRS = {"1-aaaaaaaa", "2-bbbbbbbb"}
HEADER = "pair,voter,correct\n"


def read(folder, text):
    path = folder / "votes.csv"
    path.write_text(text)
    return read_votes(str(path), PAIRS)


def test_each_line_is_a_vote(tmp_path):
    text = f'\ufeff{HEADER}1-aaaaaaaa,Anna,yes\r\n\n1-aaaaaaaa,"Ben, the other", no\n2-bbbbbbbb,Anna,no\n'
    found = read(tmp_path, text)
    assert found["pair"].tolist() == ["1-aaaaaaaa", "1-aaaaaaaa", "2-bbbbbbbb"]
    assert found["voter"].tolist() == ["Anna", "Ben, the other", "Anna"]
    assert found["correct"].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3-cccccccc,Anna,yes", "the ballot has no pair '3-cccccccc'"),
        ("1-cccccccc,Anna,yes", "votes on an earlier ballot"),
        ("2-bbbbbbbb,Anna,no", "Anna has voted on pair 2-bbbbbbbb before"),
        ("1-aaaaaaaa,Anna,maybe", "expected yes or no, found 'maybe'"),
        ("1-aaaaaaaa,Anna,Yes", "expected yes or no, found 'Yes'"),
        ("1-aaaaaaaa,Anna,", "leave out lines without an answer"),
        ("1-aaaaaaaa, ,yes", "names no voter"),
        ("1-aaaaaaaa,yes", "expected a pair, a voter, and yes or no"),
        ('1-aaaaaaaa,"Anna,yes', "expected pair,voter,correct"),
    ],
)
def test_a_line_that_cannot_be_counted_is_named(tmp_path, line, message):
    with pytest.raises(InputError, match=rf"votes\.csv, line 3: .*{message}"):
        read(tmp_path, f"{HEADER}2-bbbbbbbb,Anna,yes\n{line}\n")


@pytest.mark.parametrize("header", ["pair,correct\n", "pair;voter;correct\n", "pair,voter,correct,remark\n"])
def test_other_columns_are_refused(tmp_path, header):
    with pytest.raises(InputError, match="line 1: expected the columns pair,voter,correct; found"):
        read(tmp_path, f"{header}1-aaaaaaaa,Anna,yes\n")


@pytest.mark.parametrize("text", ["", "\n\n", HEADER])
def test_a_file_without_votes_is_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"votes\.csv: .*it has no vote"):
        read(tmp_path, text)


def test_votes_are_kept_with_the_ballot_that_they_are_on(tmp_path):
    row = {"image_id": "a", "caption_id": "a#0", "tokens": ["a", "dog"], "phrase": "a dog", "start": 0, "end": 2}
    row |= {"pair": "1-aaaaaaaa", "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}
    schema.write([row], BALLOT, tmp_path / "ballot.parquet", {"pairs": 1, "seed": 0})
    (tmp_path / "votes.csv").write_text(f"{HEADER}1-aaaaaaaa,Anna,yes\n")
    files = (str(tmp_path / name) for name in ("votes.csv", "ballot.parquet", "votes.parquet"))
    write_votes(*files, {"dataset": "scenes", "variant": "hm_lstm"})
    assert schema.identity(tmp_path / "votes.parquet") == Identity("scenes", "hm_lstm")
    assert schema.read(tmp_path / "votes.parquet", VOTES)["correct"].tolist() == [True]
    assert made_from(tmp_path / "votes.parquet")["parents"] == {"ballot": {"pairs": 1, "seed": 0}}

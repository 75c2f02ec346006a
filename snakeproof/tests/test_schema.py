from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter
from snakeproof.tests.kinds import CAPTIONS, PARSES, WORDS

ROWS = [{"index": 0, "word": "", "count": 0}, {"index": 2, "word": "dog", "count": 7}]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.parquet"
    schema.write(ROWS, WORDS, path, captions="captions.parquet", minimum=1)
    return path


def test_what_is_written_is_read(words):
    assert schema.read(words, WORDS).to_dict("records") == ROWS
    assert schema.check(words, WORDS).found == {"captions": "captions.parquet", "minimum": 1}
    assert list(schema.read(words, WORDS, ["word"])) == ["word"]
    assert len(schema.read_all([words, words], WORDS)) == 4


def test_no_rows_are_a_valid_artifact(tmp_path):
    schema.write([], WORDS, tmp_path / "a")
    assert schema.read(tmp_path / "a", WORDS).empty


def test_lists_and_structures_survive(tmp_path):
    row = {"tokens": ["a", "dog"], "dependencies": [{"relation": "root", "governor": -1}], "others": []}
    schema.write([row], PARSES, tmp_path / "a")
    found = schema.read(tmp_path / "a", PARSES).iloc[0]
    assert list(found["tokens"]) == row["tokens"]
    assert list(found["dependencies"]) == row["dependencies"]
    assert list(found["others"]) == []


COUNTED = replace(
    WORDS, rules=(schema.Rule(lambda rows, most: {"is counted too often": rows["count"] > most}, ("most",)),)
)


@pytest.mark.parametrize("kind", ["rows", "vectors"])
def test_a_row_that_breaks_a_rule_is_named_by_its_origin_and_nothing_is_written(tmp_path, kind):
    rows = pd.DataFrame({"index": [0, 1, 2], "word": ["a", "b", "c"], "count": [1, 8, 9]})
    named = rows.assign(origin=[f"words.csv: line {line}" for line in (1, 2, 3)])
    path = tmp_path / "words.parquet"

    def write(rows, most):
        if kind == "rows":
            schema.write(rows, COUNTED.bind(most=most), path)
            return
        with FeatureWriter(path, COUNTED.bind(most=most), (2,), np.float32) as writer:
            writer.append(rows, np.zeros((3, 2)))

    said = r" \({'index': 1, 'word': 'b', 'count': 8}\): is counted too often; 2 such rows\.$"
    with pytest.raises(InputError, match=rf"^words\.csv: line 2{said}"):
        write(named, most=7)
    with pytest.raises(InputError, match=rf"words\.parquet: row 1{said}"):
        write(rows, most=7)
    assert not path.exists()
    write(named, most=9)
    assert list(schema.read(path, COUNTED))[:3] == ["index", "word", "count"]


def test_same_rows_same_bytes(tmp_path, words):
    schema.write(ROWS, WORDS, tmp_path / "again", captions="captions.parquet", minimum=1)
    assert (tmp_path / "again").read_bytes() == words.read_bytes()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"index": 0, "word": "a"}], "columns"),
        ([{"index": 0, "word": "a", "count": 1, "extra": 1}], "extra"),
        (pd.DataFrame({"index": [0], "word": ["a"], "number": [1]}), "number"),
        ([{"index": 0, "word": None, "count": 1}], "word"),
        ([{"index": 0, "word": "a", "count": "many"}], "count"),
        ([{"index": 2**40, "word": "a", "count": 1}], "words"),
    ],
)
def test_wrong_columns_types_and_nulls_are_errors_and_nothing_is_written(tmp_path, rows, message):
    with pytest.raises(InputError, match=message) as error:
        schema.write(rows, WORDS, tmp_path / "words.parquet")
    assert "words.parquet" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_another_version_and_another_kind_are_named(tmp_path, words):
    with pytest.raises(
        InputError, match=r"words\.parquet: expected a words artifact of version 2, .* version 1.*again"
    ):
        schema.read(words, replace(WORDS, version=2))
    with pytest.raises(InputError, match=f"expected a captions artifact of version {CAPTIONS.version}, found words"):
        schema.read(words, CAPTIONS)
    pd.DataFrame(ROWS).to_parquet(tmp_path / "plain.parquet")
    with pytest.raises(InputError, match="found one without a seal"):
        schema.read(tmp_path / "plain.parquet", WORDS)


@pytest.mark.parametrize("kept", [0, 3, 100, -1])
def test_a_truncated_file_is_an_error_that_says_what_to_do(words, kept):
    words.write_bytes(words.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"words\.parquet: not a whole Parquet file .* run snakemake again"):
        schema.read(words, WORDS)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        schema.read(tmp_path / "words.parquet", WORDS)


def test_the_file_explains_itself_to_duckdb(words):
    pairs = duckdb.sql(f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{words}')").fetchall()
    assert dict(pairs)["snakeproof.schema"] == "words"
    assert "occurrences" in dict(pairs)["snakeproof.columns"]

"""What files say of their making is compared with today's plan; those that agree are made to say that they are of it.

tests/older has a small project of commit 5febe9e3, whose files copied the settings of all ancestors.
"""

import ast
import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.sentences import WORDS
from snakeproof import schema
from snakeproof.adoption import BYTES, CODE, adopt, compare
from snakeproof.errors import InputError
from snakeproof.records import record_file
from snakeproof.seals import verify_file
from snakeproof.statements import RESULTS, Statement, digest, is_older, making, read_statement

OLDER = Path(__file__).parents[1] / "older/5febe9e3.tar.xz"
TOKENS, COUNTED = "results/scenes/tokens.parquet", "results/scenes/vocabulary/words.parquet"
MODEL = "results/scenes/models/vse/seed0/round0/model.safetensors"
RETRIEVAL = "results/scenes/retrieval/full/vse/seed0/round0.parquet"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(RESULTS, "results")


@pytest.fixture
def older(folder):
    with tarfile.open(OLDER) as archive:
        archive.extractall(filter="data")


def record_of(path):
    return json.loads(record_file(Path("results/.records-results"), path).read_bytes())


def plan_of(path, *inputs, **wildcards):
    """The job of a file of the earlier version as today's plan has it: with the settings of its record."""
    values = [ast.literal_eval(text) for text in record_of(path)["params"]]
    given = next(value for value in values if isinstance(value, dict))
    read = {"tokens" if name == TOKENS else "model": {name.removeprefix("results/"): digest(name)} for name in inputs}
    return Statement("module:function", given, "new code", wildcards={"dataset": "scenes", **wildcards}, inputs=read)


def test_with_its_record_only_the_code_of_an_older_file_is_not_compared(older):
    plan = plan_of(COUNTED, TOKENS)
    assert compare(COUNTED, plan, record_of(COUNTED)) == [CODE]
    assert compare(COUNTED, plan, None) == [CODE, "minimum"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"given": {"minimum": 7}}, "minimum: the plan says 7, found 1"),
        ({"given": {"minimum": 1, "revisions": {"resize": 2}}}, r"revisions\.resize: values have changed since"),
        ({"contents": ["0f"]}, "the user's files have other contents now"),
        ({"inputs": {}}, r"was made from scenes/tokens\.parquet, which is no input now"),
        ({"inputs": {"tokens": {"scenes/tokens.parquet": "0f"}}}, r"was made from another scenes/tokens\.parquet than"),
        (
            {"inputs": {"boxes": {"scenes/boxes.parquet": "0f"}}},
            r".* was not made from scenes/boxes\.parquet, which",
        ),
    ],
)
def test_what_disagrees_is_named(older, changes, message):
    record = record_of(COUNTED)
    record["params"] += ["['1f']"] * ("contents" in changes)
    with pytest.raises(InputError, match=f"^{COUNTED}: {message}"):
        compare(COUNTED, replace(plan_of(COUNTED, TOKENS), **changes), record)


def test_another_seed_is_named(older):
    plan = plan_of(RETRIEVAL, MODEL, variant="vse", seed="1", round="0")
    with pytest.raises(InputError, match="seed: the plan says 1, found 0"):
        compare(RETRIEVAL, replace(plan, inputs={}), None)


def test_a_setting_that_is_new_since_disagrees_with_nothing(older):
    plan = plan_of(COUNTED, TOKENS)
    assert compare(COUNTED, replace(plan, given={**plan.given, "new": 3}), record_of(COUNTED)) == [CODE, "new"]


def test_what_is_adopted_states_todays_job_and_what_was_not_compared(older):
    before = digest(COUNTED)
    rows, weights = schema.read(COUNTED, WORDS), load_file(MODEL)
    plan = plan_of(COUNTED, TOKENS)
    adopt(COUNTED, plan, [CODE])
    adopt(MODEL, plan_of(MODEL), [CODE])
    found = read_statement(COUNTED)
    assert not is_older(COUNTED)
    assert (found.call, found.given, found.inputs) == (plan.call, plan.given, plan.inputs)
    assert found.adopted == {"scenes/vocabulary/words.parquet": [CODE]}
    assert verify_file(COUNTED).startswith(before)
    assert schema.read(COUNTED, WORDS).equals(rows)
    assert all(np.array_equal(value, weights[name]) for name, value in load_file(MODEL).items())
    assert read_statement(MODEL).found["method"] == "vse"
    # Weights had another digest before, by which what was made from them names them.
    retrieval = plan_of(RETRIEVAL, MODEL, variant="vse", seed="0", round="0", protocol="full")
    others = {name: dict(files) for name, files in read_statement(RETRIEVAL).inputs.items() if name != "model"}
    assert compare(RETRIEVAL, replace(retrieval, inputs={**others, **retrieval.inputs}), record_of(RETRIEVAL)) == [CODE]
    assert read_identity(RETRIEVAL) == Identity("scenes", "vse", 0, 0, "full", "test")


def test_of_a_file_that_states_its_job_only_the_code_may_differ(folder):
    job = Statement("module:function", {"minimum": 2}, "old code", wildcards={"dataset": "scenes"})
    with making(job):
        schema.write([], WORDS, COUNTED)
    assert compare(COUNTED, job, None) == []
    assert compare(COUNTED, replace(job, code="new code", call="moved:function"), None) == [CODE]
    with pytest.raises(InputError, match="minimum: the plan says 3, found 2"):
        compare(COUNTED, replace(job, given={"minimum": 3}), None)
    with pytest.raises(InputError, match=r"revisions\.count: the plan says 2, found none"):
        compare(COUNTED, replace(job, given={"minimum": 2, "revisions": {"count": 2}}), None)


def test_damage_is_named(older):
    with open(MODEL, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")
    with pytest.raises(InputError, match=f"^{MODEL}: damaged"):
        adopt(MODEL, plan_of(MODEL), [CODE])


def test_files_without_seals_are_sealed(folder):
    """They are of a version before 5febe9e3."""
    with making(Statement(wildcards={"dataset": "scenes"})):
        schema.write([{"word": "a", "index": 0, "count": 1}], WORDS, COUNTED)
    made = json.dumps({"minimum": 2, "parents": {}})
    known = {"densevse.schema": "words", "densevse.version": "1", "densevse.made_from": made}
    pq.write_table(pq.read_table(COUNTED).replace_schema_metadata(known), COUNTED)
    Path(MODEL).parent.mkdir(parents=True)
    save_file({"w": np.arange(6.0)}, MODEL, {"densevse.made_from": made})
    for path in (COUNTED, MODEL):
        assert compare(path, Statement("call", {"minimum": 2}, "code"), None) == [CODE, BYTES]
        assert compare(path, Statement("call", {"minimum": 2}, "code"), None) == [CODE]
    assert load_file(MODEL)["w"].tolist() == list(range(6))

"""What a file says of its job: written by the runner, compared with a plan, and followed to its ancestors."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.runs import job_changes
from snakeproof.seals import sealed_file, verify_file
from snakeproof.statements import (
    RESULTS,
    Statement,
    ancestors,
    check_inputs,
    digest,
    is_artifact,
    job_differences,
    making,
    merge_statements,
    parents,
    place,
    read_statement,
    restate,
    statement_metadata,
)
from snakeproof.tests.kinds import WORDS

GIVEN = {"network": {"layers": ["fc7"], "mean": [0.1, 2.5e-07]}, "seed": 1}


def words(path, *names, job=None, inputs=(), **found):
    """Writes the words of a job that read artifacts; an input is called by its file's name."""
    read = {str(one).rpartition("/")[2].partition(".")[0]: {place(one): digest(one)} for one in inputs}
    rows = [{"word": name, "index": number, "count": 1} for number, name in enumerate(names)]
    with making(job or Statement("module:write", GIVEN, "c0de", inputs=read)):
        schema.write(rows, WORDS, path, **found)
    return path


@pytest.fixture
def scenes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(RESULTS, "results")
    folder = tmp_path / "results/scenes"
    folder.mkdir(parents=True)
    words("results/scenes/captions.parquet", "a", "dog")
    words("results/scenes/tokens.parquet", "dog", inputs=["results/scenes/captions.parquet"])
    with sealed_file("results/scenes/model.safetensors") as temporary:
        read = {"tokens": {"scenes/tokens.parquet": digest("results/scenes/tokens.parquet")}}
        with making(Statement("module:train", inputs=read, wildcards={"variant": "vse"})):
            save_file({"w": np.arange(6.0)}, temporary, statement_metadata(device="cpu"))
    return folder


def test_a_file_states_its_whole_job_and_copies_no_ancestor(scenes):
    found = read_statement(words("results/scenes/words.parquet", "b", inputs=["results/scenes/tokens.parquet"], n=3))
    assert (found.call, found.given, found.code, found.found) == ("module:write", GIVEN, "c0de", {"n": 3})
    assert found.inputs == {"tokens": {"scenes/tokens.parquet": digest("results/scenes/tokens.parquet")}}
    assert "captions" not in json.dumps(found.values())
    assert "0" * 8 not in digest("results/scenes/model.safetensors")


def test_ancestors_are_followed_by_digest(scenes):
    model = read_statement("results/scenes/model.safetensors")
    assert [one.call for one in parents(model)["tokens"]] == ["module:write"]
    assert len(ancestors(model)) == 2
    words("results/scenes/captions.parquet", "a", "cat")  # another file of that name is no ancestor
    assert len(ancestors(model)) == 1
    (scenes / "tokens.parquet").unlink()
    assert parents(model) == {}


def test_where_files_are_not_at_hand_their_statements_are_carried(scenes):
    above = {digest(path): read_statement(path).own_values for path in ("results/scenes/tokens.parquet",)}
    model = Statement(inputs=read_statement("results/scenes/model.safetensors").inputs, above=above)
    (scenes / "tokens.parquet").unlink()
    assert parents(model)["tokens"][0].call == "module:write"


def test_a_statement_is_the_same_once_read_and_names_no_folder(scenes):
    text = json.dumps(read_statement(words(scenes / "b.parquet", "b", job=Statement(given=GIVEN))).values())
    assert str(scenes) not in text
    assert repr(json.loads(text)["given"]) == repr(GIVEN)


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (Statement("module:write", GIVEN, "c0de"), None),
        (Statement("module:write", {**GIVEN, "seed": 2}, "c0de"), "seed: the plan says 2, found 1"),
        (Statement("module:write", {**GIVEN, "new": None}, "c0de"), "new: the plan says none, found none"),
        (Statement("module:write", GIVEN, "other"), "code: the plan says other, found c0de"),
        (Statement("module:write", GIVEN, "c0de", ["1f"]), "contents: the plan says \\['1f'\\], found none"),
        (Statement("module:write", GIVEN, "c0de", inputs={"a": {"scenes/a.parquet": None}}), "was not made from"),
    ],
)
def test_what_differs_from_a_plan_is_named(scenes, planned, message):
    found = job_differences(read_statement(words("results/scenes/b.parquet", "b", device="cpu")), planned)
    if message is None or "new" in message:  # a setting that is none says nothing
        assert found == []
    else:
        (said,) = found
        assert message.replace("\\", "") in said


def test_a_change_is_said_in_few_words():
    given = {"job": {"parameters": {"margin": 0.2}}, "words": list(range(20))}
    today = {"job": {"parameters": {"margin": 0.3}}, "words": [], "new": True}
    before, now = Statement("module:write", given, "c0de"), Statement("module:write", today, "other", ["1f"])
    assert job_changes(before, now) == [
        "parameters.margin: 0.2 -> 0.3",
        "words: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … -> []",
        "its code",
        "new: none -> True",
        "your files",
    ]
    assert job_changes(before, before) == []


def test_a_digest_is_compared_where_both_have_one(scenes):
    tokens = read_statement("results/scenes/tokens.parquet")
    plan = {"captions": {"scenes/captions.parquet": None}}
    assert job_differences(tokens, Statement("module:write", GIVEN, "c0de", inputs=plan)) == []
    plan = {"captions": {"scenes/captions.parquet": "f00"}}
    (said,) = job_differences(tokens, Statement("module:write", GIVEN, "c0de", inputs=plan))
    assert said == "was made from another scenes/captions.parquet than is there now"


def test_inputs_of_other_contents_are_refused(scenes):
    both = ["results/scenes/captions.parquet", "results/scenes/tokens.parquet", "resources/photographs.zip"]
    check_inputs(both)
    words("results/scenes/captions.parquet", "a", "dog")  # made again, with the same rows
    check_inputs(both)
    words("results/scenes/captions.parquet", "a", "cat")
    with pytest.raises(InputError, match=r"(?s)captions\.parquet: another file.*than it has now.*tokens\.parquet"):
        check_inputs(both)
    words("results/scenes/other.parquet", inputs=both[:1])
    with pytest.raises(InputError, match=r"(?s)captions\.parquet: .*than for .*tokens\.parquet.*other\.parquet"):
        check_inputs([both[1], "results/scenes/other.parquet"])


def test_shards_are_of_one_job_and_of_the_same_contents(scenes):
    captions = "results/scenes/captions.parquet"
    shards = [words(f"results/scenes/{shard}.parquet", shard, inputs=[captions]) for shard in ("0", "1")]
    assert merge_statements(shards).inputs == {"captions": {"scenes/captions.parquet": digest(captions)}}
    words("results/scenes/captions.parquet", "a", "cat")
    words(shards[1], "1", inputs=[captions])
    with pytest.raises(InputError, match=r"1\.parquet: made from other contents of scenes/captions\.parquet"):
        merge_statements(shards)
    words(shards[1], "1", job=Statement("module:write", {**GIVEN, "seed": 2}))
    with pytest.raises(InputError, match=r"1\.parquet: made from other things than .*seed: expected 1, found 2"):
        merge_statements(shards)


@pytest.mark.parametrize("name", ["tokens.parquet", "model.safetensors"])
def test_another_statement_leaves_the_content_as_it_is(scenes, name):
    source, copy = scenes / name, scenes / f"copy_{name}"
    restate(source, copy, Statement("module:use", {"text": "ä" * 300}, wildcards={"variant": "vse"}))
    assert verify_file(copy) == verify_file(source)
    assert read_statement(copy).given == {"text": "ä" * 300}
    if name.endswith(".parquet"):
        assert schema.read(copy, WORDS).equals(schema.read(source, WORDS))
    else:
        assert load_file(copy)["w"].tolist() == list(range(6))


def test_files_of_other_software_are_named(tmp_path):
    save_file({"w": np.ones(2)}, tmp_path / "other.safetensors")
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "other.safetensors").read_bytes()[:20])
    with pytest.raises(InputError, match=r"other\.safetensors: expected a file that proves its contents"):
        read_statement(tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=r"cut\.safetensors: not a whole safetensors file"):
        read_statement(tmp_path / "cut.safetensors")
    with pytest.raises(InputError, match="no such file"):
        read_statement(tmp_path / "none.safetensors")


def test_only_files_of_results_are_artifacts(monkeypatch):
    monkeypatch.setenv(RESULTS, "/elsewhere/results")
    paths = ["/elsewhere/results/scenes/a.parquet", "storage/elsewhere/results/scenes/a.parquet", "/mine/a.parquet"]
    assert [is_artifact(path) for path in paths] == [True, True, False]
    assert [is_artifact(f"{folder}/elsewhere/results/a.parquet") for folder in ("", "/mine")] == [True, False]
    assert not is_artifact("/elsewhere/results/scenes/a.md")
    assert place(paths[1]) == "scenes/a.parquet"
    assert place(paths[2]) == "a.parquet"


@pytest.mark.parametrize("results", ["mine", "results", "/folder/mine"])
def test_a_folder_of_results_may_hold_one_of_its_own_name(monkeypatch, results):
    monkeypatch.setenv(RESULTS, results)
    name = results.rpartition("/")[2]
    assert place(f"{results}/{name}/a.parquet") == f"{name}/a.parquet"
    assert place(f"{results}/scenes/{name}/a.parquet") == f"scenes/{name}/a.parquet"
    assert is_artifact(f"{results}/{name}/a.parquet")

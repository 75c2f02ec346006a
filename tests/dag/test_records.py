import json
import shutil
from pathlib import Path

import pytest

from densevse.dag.records import Records, adopt, keep_records, read_only, record_file, refuse_lost
from densevse.runtime.errors import InputError

KEPT, LINK = Path("results/.records-results"), Path(".snakemake/metadata")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def made(results="results"):
    """A file that a run has made, with Snakemake's record of it."""
    keep_records(results)
    Path(results, "scenes").mkdir()
    Path(results, "scenes/images.parquet").touch()
    (LINK / "record").touch()


def test_records_travel_with_results():
    made()
    shutil.rmtree(".snakemake")
    keep_records("results")
    assert [path.name for path in LINK.iterdir()] == ["record"]
    Path("project").mkdir()
    for name in ("results", ".snakemake"):
        shutil.move(name, f"project/{name}")
    assert Path("project", LINK, "record").is_file()


def test_records_that_snakemake_wrote_itself_are_moved():
    LINK.mkdir(parents=True)
    (LINK / "earlier").touch()
    Path("results/scenes").mkdir(parents=True)
    Path("results/scenes/images.parquet").touch()
    keep_records("results")
    assert (KEPT / "earlier").is_file()
    assert LINK.is_symlink()


def test_whoever_deletes_all_results_begins_anew():
    """The link outlives them, and Snakemake stops at one that leads nowhere."""
    made()
    shutil.rmtree("results")
    keep_records("results")
    assert LINK.is_dir()
    assert list(KEPT.iterdir()) == []


def test_another_folder_of_results_is_refused_while_a_run_is_under_way():
    """Its records would go to the other folder, and what it makes would be taken for current for ever."""
    made()
    Path(".snakemake/locks").mkdir()
    Path(".snakemake/locks/0.output.lock").touch()
    keep_records("results")
    with pytest.raises(InputError, match=r"^results: a run is in progress .* go to .*, and not to others/\.records"):
        keep_records("others")
    assert LINK.resolve() == KEPT.resolve()
    shutil.rmtree("results")
    keep_records("results")


def lost(results="results", is_made=lambda path: True):
    return Records(results).lost(is_made)


def test_results_without_records_are_refused():
    made()
    shutil.rmtree(KEPT)
    keep_records("results")
    with pytest.raises(
        InputError, match=r"(?s)no record .*\n  results/scenes/images\.parquet\n.*\.records-results too"
    ):
        refuse_lost("results", lost())


def test_results_of_another_name_are_refused():
    """The records name the paths of what was made."""
    made()
    shutil.move("results", "elsewhere")
    keep_records("elsewhere")
    with pytest.raises(InputError, match=r"(?s)\n  elsewhere/scenes/images\.parquet\n.* give it that name again"):
        refuse_lost("elsewhere", lost("elsewhere"))


def test_two_folders_of_results_have_records_of_their_own():
    made("one")
    made("two/deep")
    keep_records("one")
    assert LINK.resolve() == Path("one/.records-one").resolve()
    assert Path("two/deep/.records-two%2Fdeep/record").is_file()


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch):
    for name in ("results", "resources"):
        Path(name).mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: path != "results")
    (message,) = read_only("results", "resources", "absent")
    assert message.startswith("results is not writable")
    assert "chmod" in message


RECORD = {"rule": "train", "params": ["1"], "input": [], "incomplete": False}


def put(path, record, kind="metadata"):
    """A file, with the bytes of its record, if there are any."""
    Path(path).touch()
    if record is not None:
        record_file(Path(".snakemake", kind), path).write_bytes(record)


@pytest.mark.parametrize(
    "kept", [None, b"", b"null", b"{", b"\0" * 300, b"[]", b"{}", json.dumps({**RECORD, "incomplete": True}).encode()]
)
def test_a_file_whose_record_is_lost_is_refused_by_name(kept):
    made()
    path = "results/scenes/tokens.parquet"
    put("results/scenes/images.parquet", json.dumps(RECORD).encode())
    put(path, kept)
    assert lost() == [path]
    with pytest.raises(InputError, match=rf"(?s)no record can be read.*\n  {path}\n.*densevse adopt"):
        refuse_lost("results", lost())
    assert lost(is_made=lambda path: "tokens" not in path) == []  # a note of the user's
    put(path, b"{}", "incomplete")
    assert lost() == []  # is made again


def test_a_training_that_was_over_is_not_made_again():
    """Its run was killed between the end of the training and the record, and would begin it anew."""
    made()
    path = Path("results/scenes/model.safetensors")
    put("results/scenes/images.parquet", json.dumps(RECORD).encode())
    put(str(path), None)
    put(str(path), b"{}", "incomplete")
    assert lost() == [str(path)]
    checkpoint = path.parent / ".work-model-0123456789abcdef"
    checkpoint.mkdir()
    assert lost() == []  # is trained on
    checkpoint.rmdir()
    adopt(str(path), json.dumps(RECORD).encode(), ["the code"])
    assert lost() == []
    path.unlink()
    assert Records("results").adopted == {"scenes/model.safetensors": ["the code"]}
    record_file(LINK, str(path)).write_text(json.dumps(RECORD))  # as after a training
    assert Records("results").adopted == {}


def test_logs_and_hidden_files_need_no_record():
    made()
    record_file(LINK, "results/scenes/images.parquet").write_text(json.dumps(RECORD))
    Path("results/logs/train").mkdir(parents=True)
    for name in ("results/logs/train/vse.log", "results/scenes/.images.parquet.1.part"):
        Path(name).touch()
    assert lost() == []

import json
import os
import shutil
from pathlib import Path

import pytest

from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.records import doubt_files, doubted_warning, keep_records, older_files, read_only_warnings, record_file
from snakeproof.statements import Statement, digest, making
from snakeproof.tests.kinds import WORDS

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


def test_a_dry_run_makes_no_folder_of_results():
    keep_records("one/deep", is_dry_run=True)
    assert not Path("one").exists()
    assert list(LINK.iterdir()) == []
    made("one")
    keep_records("one", is_dry_run=True)
    assert [path.name for path in LINK.iterdir()] == ["record"]
    keep_records("two", is_dry_run=True)
    assert list(LINK.iterdir()) == []
    keep_records("one")
    assert [path.name for path in LINK.iterdir()] == ["record"]


def test_a_dry_run_leaves_what_snakemake_wrote_itself():
    LINK.mkdir(parents=True)
    (LINK / "earlier").touch()
    keep_records("results", is_dry_run=True)
    assert (LINK / "earlier").is_file()
    assert not Path("results").exists()


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
    (message,) = read_only_warnings("results", "resources", "absent")
    assert message.startswith("results is not writable")
    assert "chmod" in message


GIVEN = {"minimum": 5, "rates": [0.1, 2e-07], "name": None}
CAPTIONS, TOKENS, PICTURE = "results/scenes/captions.parquet", "results/scenes/tokens.parquet", "results/scenes/a.svg"


def write_record(path, params=("call", "c0de", GIVEN), **changes):
    """Snakemake's record of a file."""
    record = {"rule": "write", "params": [*map(repr, params)], "input": [], "incomplete": False, "endtime": 0.0}
    record_file(LINK, path).write_text(json.dumps({**record, **changes}))


def write(path, *words, inputs=None, given=GIVEN):
    """An artifact of a job, and its record."""
    rows = [{"word": word, "index": number, "count": 1} for number, word in enumerate(words)]
    with making(Statement("call", given, "c0de", inputs=inputs or {})):
        schema.write(rows, WORDS, path)
    write_record(path)


@pytest.fixture
def results():
    """Captions, tokens that were made from them, and a picture."""
    made()
    Path("results/scenes/images.parquet").unlink()
    write(CAPTIONS, "a")
    write(TOKENS, "b", inputs={"captions": {"scenes/captions.parquet": digest(CAPTIONS)}})
    Path(PICTURE).touch()
    write_record(PICTURE)


def doubted(is_made=lambda path: True):
    return doubt_files("results", is_made)


def marks():
    folder = Path(".snakemake/incomplete")
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_what_its_record_tells_of_is_not_doubted(results):
    assert doubted() == []
    assert marks() == []
    assert doubted_warning([]) is None


@pytest.mark.parametrize("path", [TOKENS, PICTURE])
@pytest.mark.parametrize("kept", [None, b"", b"null", b"{", b"\0" * 300, b"[]", b"{}"])
def test_a_file_whose_record_is_lost_is_doubted(results, path, kept):
    record = record_file(LINK, path)
    record.unlink() if kept is None else record.write_bytes(kept)
    assert doubted(is_made=lambda path: False) == []  # a note of the user's
    assert marks() == []
    assert doubted() == [path]
    assert marks() == [record_file(Path(".snakemake/incomplete"), path).name]
    assert not record.exists()
    assert doubted() == [path]
    assert doubted_warning([path, CAPTIONS]).startswith(f"{path} and 1 more: no record tells how these were made.")


@pytest.mark.parametrize(
    "params", [("other", "c0de", GIVEN), ("call", "c0d3", GIVEN), ("call", "c0de", {**GIVEN, "minimum": 6})]
)
def test_a_record_of_another_file_is_not_believed(results, params):
    """As of a snapshot by hard links that was put back: records were written through the shared inode."""
    write_record(TOKENS, params)
    assert doubted() == [TOKENS]


def test_a_file_in_the_place_of_another_is_doubted(results):
    write(TOKENS, "b", given={**GIVEN, "minimum": 6})
    write_record(TOKENS)
    assert doubted() == [TOKENS]


def test_a_file_of_other_inputs_than_are_there_is_doubted(results):
    status = os.stat(CAPTIONS)
    write(CAPTIONS, "another")
    os.utime(CAPTIONS, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert doubted() == [TOKENS]
    Path(CAPTIONS).unlink()  # made, used and deleted
    record_file(Path(".snakemake/incomplete"), TOKENS).unlink()
    write_record(TOKENS)
    assert doubted() == []


def test_a_picture_that_is_older_than_its_record_is_doubted(results):
    write_record(PICTURE, endtime=os.stat(PICTURE).st_mtime)
    assert doubted() == []
    write_record(PICTURE, endtime=os.stat(PICTURE).st_mtime + 60)
    assert doubted() == [PICTURE]


def test_a_damaged_file_is_doubted(results):
    with open(TOKENS, "r+b") as file:
        file.seek(-20, os.SEEK_END)
        file.write(b"!")
    assert doubted() == [TOKENS]


def test_a_training_that_was_over_is_taken_back_and_not_made_again(results):
    """Its run was killed between the end of the training and the record: its job looks at what it says of itself."""
    mark = record_file(Path(".snakemake/incomplete"), TOKENS)
    mark.write_text("{}")
    assert doubted() == [TOKENS]


def test_artifacts_of_an_earlier_version_are_named(results):
    schema.write([], WORDS, "results/scenes/words.parquet")
    assert older_files("results") == []
    earlier = Path("results/scenes/words.parquet")
    earlier.write_bytes(
        earlier.read_bytes().replace(b"\x14snakeproof.statement\x18\x02{}", b"\x12densevse.made_from\x18\x04{  }")
    )
    assert older_files("results") == []  # its seal is broken, so it is damaged and not older
    assert earlier.name in {Path(path).name for path in doubted()}


def test_logs_and_hidden_files_need_no_record(results):
    Path("results/logs/train").mkdir(parents=True)
    for name in ("results/logs/train/vse.log", "results/scenes/.images.parquet.1.part"):
        Path(name).touch()
    assert doubted() == []

"""Snakemake's records of what lies in a bucket: who has which, and when."""

import json
import shutil
from pathlib import Path

import pytest
from snakemake.persistence.file import FilePersistence

from snakeproof import bucket as module
from snakeproof.bucket import BucketRecords
from snakeproof.errors import InputError
from snakeproof.records import list_addresses, record_file

PREFIX = "s3://bucket/here/"
IMAGES, MODEL = f"{PREFIX}results/scenes/images.parquet", f"{PREFIX}results/scenes/model.safetensors"
RECORDS, RUN = "results/.records.json", "results/.run.json"


class Memory:
    """A bucket in memory."""

    prefix = PREFIX

    def __init__(self):
        self.files, self.written = {}, []

    def address(self, path):
        return f"{PREFIX}{path}"

    def holds(self, path):
        return any(name == path or name.startswith(f"{path}/") for name in self.files)

    def read(self, path):
        return self.files.get(path)

    def write(self, path, text):
        self.files[path] = text
        self.written.append(path)

    def remove(self, path):
        del self.files[path]


class Checkout:
    """A checkout on a bucket, as Snakemake and the workflow use it."""

    def __init__(self, folder, bucket, monkeypatch):
        folder.mkdir()
        self.folder, self.bucket, self._monkeypatch = folder, bucket, monkeypatch
        self.records = None

    def plan(self):
        """Begin a process of Snakemake's, which reads records before it plans."""
        self._monkeypatch.chdir(self.folder)
        self.records = BucketRecords(self.bucket, "results")
        self.records.fetch()
        return self

    def begin(self, *outputs):
        self._monkeypatch.chdir(self.folder)
        self.records.begin(outputs)
        return self

    def end(self):
        self._monkeypatch.chdir(self.folder)
        self.records.end()

    def make(self, address, of):
        """Make an output of settings, as the last of which Snakemake writes the record."""
        self._monkeypatch.chdir(self.folder)
        self.bucket.files[address.removeprefix(PREFIX)] = of
        file = record_file(Path(".snakemake/metadata"), address)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"params": of}))

    def knows(self):
        """Address -> the settings of its record here."""
        found = list_addresses(self.folder / ".snakemake/metadata")
        return {address: json.loads(path.read_text())["params"] for address, path in found}

    def doubts(self):
        """The addresses that Snakemake takes for incomplete here."""
        return [address for address, _ in list_addresses(self.folder / ".snakemake/incomplete")]


@pytest.fixture
def bucket():
    return Memory()


@pytest.fixture
def checkout(tmp_path, bucket, monkeypatch):
    return lambda name: Checkout(tmp_path / name, bucket, monkeypatch)


@pytest.fixture
def made(checkout):
    """A checkout that has made images and a model of the settings `a`."""
    first = checkout("first").plan().begin(IMAGES, MODEL)
    first.make(IMAGES, "a")
    first.make(MODEL, "a")
    first.end()
    return first


def test_a_second_checkout_has_the_records_of_the_first(made, checkout, bucket):
    second = checkout("second").plan()
    assert second.knows() == {IMAGES: "a", MODEL: "a"}
    assert second.doubts() == []
    assert RUN not in bucket.files
    second.begin(MODEL).make(MODEL, "b")
    second.end()
    assert made.knows()[MODEL] == "a"
    assert made.plan().knows() == {IMAGES: "a", MODEL: "b"}


def test_a_plan_writes_nothing_to_the_bucket(made, checkout, bucket):
    bucket.written.clear()
    made.plan()
    checkout("second").plan()
    assert bucket.written == []


def test_the_checkout_whose_run_was_killed_goes_on_with_its_own_records(checkout, monkeypatch):
    first = checkout("first").plan().begin(IMAGES, MODEL)
    first.make(IMAGES, "a")
    first.plan()
    assert first.knows() == {IMAGES: "a"}
    first.begin(MODEL).make(MODEL, "a")
    first.end()
    assert checkout("second").plan().knows() == {IMAGES: "a", MODEL: "a"}


def test_another_checkout_is_refused_while_a_run_is_under_way_or_was_killed(made, checkout, bucket):
    made.plan().begin(MODEL)
    second = checkout("second").plan()
    with pytest.raises(
        InputError, match=rf"^{PREFIX}{RUN}: process .*, a run in .*first since .* is under way, or was"
    ):
        second.begin(MODEL)
    made.end()
    with pytest.raises(InputError, match="has changed since this run was planned"):
        second.begin(MODEL)
    second.plan().begin(MODEL)


def test_what_a_lost_run_was_going_to_make_is_in_doubt_whatever_it_has_made(made, checkout, bucket):
    """Its model is of the settings `b` where the records in the bucket still knew it of `a`."""
    made.plan().begin(MODEL).make(MODEL, "b")
    shutil.rmtree(made.folder)
    del bucket.files[RUN]
    second = checkout("second").plan()
    assert second.knows() == {IMAGES: "a"}
    assert second.doubts() == [MODEL]


def test_what_was_made_is_saved_during_a_run(made, checkout, bucket, monkeypatch):
    monkeypatch.setattr(module, "SAVED_EVERY", 0.01)
    made.plan().begin(MODEL)
    made.make(MODEL, "b")
    while MODEL not in json.loads(bucket.files[RECORDS])["records"]:
        pass
    made.records._over.set()
    del bucket.files[RUN]
    second = checkout("second").plan()
    assert (second.knows(), second.doubts()) == ({IMAGES: "a", MODEL: "b"}, [])


def test_a_bucket_that_does_not_answer_ends_no_run(made, bucket, monkeypatch):
    monkeypatch.setattr(module, "SAVED_EVERY", 0.01)
    said, write = [], bucket.write
    made.plan()
    made.records = BucketRecords(bucket, "results", said.append)
    made.records.fetch()
    made.begin(MODEL)

    def refuse(path, text):
        raise InputError("the bucket does not answer.")

    bucket.write = refuse
    made.make(MODEL, "b")
    while not said:
        pass
    assert said[0] == "the bucket does not answer. Until it answers, this run's records are kept on this machine alone."
    bucket.write = write
    made.end()
    assert MODEL in json.loads(bucket.files[RECORDS])["records"]


def test_results_without_records_are_refused(checkout, bucket):
    bucket.files["results/scenes/images.parquet"] = ""
    with pytest.raises(InputError, match=rf"^{PREFIX}{RECORDS}: not there\. {PREFIX}results holds what an earlier run"):
        checkout("first").plan()


def test_files_are_those_that_snakemake_writes(tmp_path, monkeypatch):
    """Long addresses, too, which become folders."""
    monkeypatch.chdir(tmp_path)
    persistence = FilePersistence()
    for address in (IMAGES, f"{PREFIX}{'long/' * 100}file"):
        persistence._mark_incomplete(address, None)
        folder = Path(persistence._incomplete_path)
        assert record_file(folder, address).is_file()
        assert address in dict(list_addresses(folder))
        assert not record_file(folder, f"{address}.other").exists()


def test_results_whose_names_differ_after_a_dot_have_runs_of_their_own(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def planned(results):
        records = BucketRecords(bucket, results)
        records.fetch()
        return records

    killed, other = planned("results-v1.0"), planned("results-v1.1")
    killed.begin([])
    killed._over.set()
    other.begin([])
    other.end()
    again = planned("results-v1.0")
    again.begin([])
    again.end()


NONSENSE = ["", "nonsense", "null", "[]", "{}", '{"records": []}', '{"records": {"": "{}"}, "in_doubt": []}']
NONSENSE += [
    '{"records": {}, "in_doubt": []}',
    '{"records": {"a": 1}, "in_doubt": []}',
    '{"records": {}, "in_doubt": 3}',
    "[" * 100_000,
]


@pytest.mark.parametrize("text", NONSENSE)
def test_records_that_are_nonsense_are_refused_by_their_address(tmp_path, monkeypatch, text):
    bucket = Memory()
    bucket.files[RECORDS] = text
    with pytest.raises(InputError, match=rf"^{PREFIX}{RECORDS}: damaged \(.*Put an earlier copy"):
        Checkout(tmp_path / "here", bucket, monkeypatch).plan()


def test_records_that_are_there_in_part_are_refused(made, checkout, bucket):
    """A file without a record counts as current, whatever it was made with."""
    found = json.loads(bucket.files[RECORDS])
    del found["records"][MODEL]
    bucket.files[RECORDS] = json.dumps(found)
    with pytest.raises(InputError, match=rf"^{PREFIX}{RECORDS}: damaged \(it is not as a run wrote it"):
        checkout("there").plan()


def test_a_record_that_a_power_cut_has_damaged_is_in_doubt(made, checkout, bucket):
    made.plan().begin(MODEL)
    record_file(made.folder / ".snakemake/metadata", IMAGES).write_bytes(b"\0" * 80)
    made.records._over.set()
    made.plan()
    assert IMAGES in made.doubts()


@pytest.mark.parametrize("text", [*NONSENSE, '{"machine": "a", "folder": "b", "began": 1e99, "id": "c"}'])
def test_a_run_whose_object_is_nonsense_is_refused_by_its_address(tmp_path, monkeypatch, text):
    bucket = Memory()
    here = Checkout(tmp_path / "here", bucket, monkeypatch).plan()
    bucket.files[RUN] = text
    with pytest.raises(InputError, match=rf"^{PREFIX}{RUN}: another run is under"):
        here.begin(IMAGES)

"""A folder as a bucket: the bytes of a plain run, and two checkouts that see what either has made."""

import copy
import json
import shutil
import time

import pytest

from tests.projects import SMALL
from tests.system.bucket.places import differing, kill, results

pytestmark = pytest.mark.slow

TOKENS = "results/scenes/tokens.parquet"
FEWER = copy.deepcopy(SMALL)
FEWER["datasets"]["scenes"]["options"]["images"]["test"] = 8
AGAIN = {"make_scenes": 1, "read_dataset": 1, "tokenize_captions": 1}


@pytest.fixture
def made(checkout, folder):
    """A checkout that has cut the sentences of scenes into words, the folder of its bucket, and the options."""
    bucket, storage = folder
    first = checkout(SMALL, storage)
    first.run(TOKENS)
    return first, bucket, storage


def until(made, run, seconds=120):
    """Wait until something is made during a run."""
    end = time.monotonic() + seconds
    while not made():
        assert run.poll() is None, "the run ended"
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.long
def test_settings_that_differ_run_what_they_touch_again_whoever_made_it(made, checkout):
    first, bucket, storage = made
    before = (bucket / TOKENS).read_bytes()
    second = checkout(SMALL, storage)
    assert second.planned(TOKENS) == {}
    assert "Nothing to be done" in second.run(TOKENS).stdout
    second.configure(FEWER)
    assert second.planned(TOKENS) == AGAIN
    second.run(TOKENS)
    assert (bucket / TOKENS).read_bytes() != before
    assert second.planned(TOKENS) == {}
    # The records that the first has of its own are of before.
    assert first.planned(TOKENS) == AGAIN
    first.run(TOKENS)
    assert (bucket / TOKENS).read_bytes() == before


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_where_it_was_and_no_other_interferes(made, checkout):
    first, bucket, storage = made
    before = (bucket / TOKENS).read_bytes()
    first.configure(FEWER)
    changed = (bucket / "results/scenes/captions.parquet").read_bytes()
    run = first.start(TOKENS)
    until(lambda: (file := bucket / "results/scenes/captions.parquet").exists() and file.read_bytes() != changed, run)
    kill(run)
    first.run("--unlock", TOKENS)

    second = checkout(SMALL, storage)
    refused = second.run(TOKENS, check=False)
    assert refused.returncode
    assert f"{bucket}/results/.run.json: process " in refused.stdout
    assert "begin it again there, and nothing is lost" in refused.stdout
    lost = shutil.copytree(bucket, bucket.with_name("lost"))
    assert "make_scenes" not in first.planned(TOKENS)
    first.run(TOKENS)
    after = (bucket / TOKENS).read_bytes()
    assert after != before
    assert not list(bucket.rglob("*.part"))

    # Had that machine been lost, another one would make again what it was making, although the settings are those of
    # the objects that it had made before.
    shutil.rmtree(bucket)
    shutil.move(lost, bucket)
    (bucket / "results/.run.json").unlink()
    assert second.planned(TOKENS) == AGAIN
    second.run(TOKENS)
    assert (bucket / TOKENS).read_bytes() == before


def test_results_without_records_are_refused(made, checkout):
    _, bucket, storage = made
    (bucket / "results/.records.json").unlink()
    refused = checkout(SMALL, storage).run("--dry-run", TOKENS, check=False)
    assert refused.returncode
    assert (
        f"{bucket}/results/.records.json: not there. {bucket}/results holds what an earlier run made" in refused.stdout
    )


def test_records_hold_no_secret_and_no_path_of_this_machine(made):
    """But for those of the bucket's own folder, and of Snakemake's local copies, which it compares with nothing."""
    first, bucket, _ = made
    records = json.loads((bucket / "results/.records.json").read_text())
    assert records["in_doubt"] == []
    assert f"{bucket}/{TOKENS}" in records["records"]
    assert str(first.folder) not in (bucket / "results/.records.json").read_text()


@pytest.mark.long
def test_everything_has_the_bytes_of_a_plain_run(checkout, folder, continue_project):
    bucket, storage = folder
    plain = continue_project(SMALL)
    plain.run("all")
    checkout(SMALL, storage).run("all")
    expected, found = results(plain.folder / "results"), results(bucket / "results")
    assert len(expected) > 50
    assert found.keys() == expected.keys()
    assert differing(expected, found) == []

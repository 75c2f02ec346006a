"""The example, run by Snakemake in folders of its own: what README.md says of it, each in a test."""

import os
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
from snakemake.cli import get_argument_parser

from snakeproof.contents import Marks
from snakeproof.errors import InputError
from snakeproof.guard import Guard
from snakeproof.options import ADOPT, ADOPTS
from snakeproof.seals import verify_file
from snakeproof.statements import RESULTS, read_statement
from snakeproof.tests.workflows import Workflow, copy_engine, flip_bit, kill, wait

pytestmark = pytest.mark.slow
CHART, HARE, CROW = "results/chart.parquet", "results/counts/hare.parquet", "results/counts/crow.parquet"
NOTHING = "Nothing to compute: the inputs were written again, with the contents that they had."
WAITS = """

import os
import time

import pyarrow.parquet as pq

_written, _write_table = count_words, pq.ParquetWriter.write_table


def _wait(moment):
    if os.environ.get("MOMENT") == moment:
        Path(moment).touch()
        time.sleep(60)


def _write_and_wait(*given, **named):
    _write_table(*given, **named)
    _wait("in the middle")


def count_words(text, output, shortest, rarest):
    _written(text, output, shortest, rarest)
    _wait("at the end")


pq.ParquetWriter.write_table = _write_and_wait
"""
"""Lets jobs wait at a moment, if the environment names one: while a file is half written, or when it has been."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The example after a stranger's first run."""
    example = Workflow(copy_engine(tmp_path_factory.mktemp("example")))
    example.run()
    return example


@pytest.fixture
def example(made, tmp_path):
    """A copy of it, as it would be in another folder."""
    shutil.copytree(made.folder.parents[1], tmp_path / "copy", symlinks=True)
    return Workflow(tmp_path / "copy/snakeproof/example")


def contents(example):
    """The bytes of the results."""
    return {name: example.path(name).read_bytes() for name in (CHART, HARE, CROW)}


def test_a_stranger_makes_a_chart_that_says_what_it_was_made_from(made, monkeypatch):
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv(RESULTS, "results")
    chart = pd.read_parquet(CHART)
    assert chart["word"].tolist() == ["hare", "crow", "tortoise", "little", "race"]
    assert chart["bar"][0] == "#" * 20
    stated = read_statement(CHART)
    assert (stated.call, stated.given) == ("counting.charts:write_chart", {"rows": 5})
    assert list(stated.inputs["counts"]) == ["counts/hare.parquet", "counts/crow.parquet"]
    assert read_statement(HARE).given == {"shortest": 4, "rarest": 2}
    assert made.planned() == {}


def test_the_folder_of_results_may_have_another_place(tmp_path):
    example = Workflow(copy_engine(tmp_path))
    example.edit("config.yaml", "resources: texts", f"resources: texts\n  results: {tmp_path}/mine/<name>\n  name: out")
    example.run()
    assert example.planned() == {}
    flip_bit(tmp_path / "mine/out/chart.parquet", -20)
    assert example.planned() == {"chart": 1}


@pytest.mark.parametrize(
    ("module", "before", "after", "jobs"),
    [
        ("counting/bars.py", '"#"', '"="', {"chart": 1}),
        ("counting/bars.py", "A bar for", "A line for", {}),
        ("counting/letters.py", "[a-z]", "[a-y]", {"count": 2, "chart": 1}),
    ],
)
def test_an_edited_helper_reruns_the_jobs_that_reach_it(example, module, before, after, jobs):
    example.edit(module, before, after)
    assert example.planned() == jobs
    assert ("Changed: its code (" in example.run()) == bool(jobs)
    assert example.planned() == {}


def test_exchanged_settings_are_seen_and_said(example):
    example.edit("config.yaml", "shortest: 4", "shortest: 2")
    example.edit("config.yaml", "rarest: 2", "rarest: 4")
    assert example.planned() == {"count": 2, "chart": 1}
    said = example.run()
    assert "Changed: shortest: 4 -> 2; rarest: 2 -> 4 (count, and 1 more)\n" in said
    assert said.count("Changed: ") == 1
    assert pd.read_parquet(example.path(CHART))["word"][0] == "the"


def test_a_text_counts_by_its_contents_and_not_by_its_time(example):
    os.utime(example.path("texts/hare.txt"))
    assert example.planned() == {}
    status = example.path("texts/hare.txt").stat()
    example.edit("texts/hare.txt", "tortoise", "hedgehog")
    os.utime(example.path("texts/hare.txt"), ns=(status.st_atime_ns, status.st_mtime_ns))
    assert example.planned() == {"count": 1, "chart": 1}


def test_a_job_whose_inputs_are_made_again_as_they_were_computes_nothing(example):
    example.edit("texts/hare.txt", "The tortoise went on", "The tortoise crept on")
    before = contents(example)
    assert example.planned() == {"count": 1, "chart": 1}
    example.run()
    assert contents(example)[CHART] == before[CHART]
    assert NOTHING in example.path("logs/chart.log").read_text()


def test_a_flipped_bit_is_an_error_of_whoever_reads_the_file(example):
    before = contents(example)
    flip_bit(example.path(HARE), 40)
    assert example.planned() == {}  # a plan reads no rows
    example.edit("config.yaml", "rows: 5", "rows: 6")
    text = example.refused()
    assert f"{HARE}: damaged in the bytes from 0 on: these are not the bytes that were written." in text
    example.path(HARE).unlink()
    example.edit("config.yaml", "rows: 6", "rows: 5")
    example.run()
    assert contents(example) == before


def test_a_file_with_a_flipped_bit_at_its_end_is_made_again(example):
    before = contents(example)
    flip_bit(example.path(HARE), -20)
    assert example.planned() == {"count": 1, "chart": 1}
    assert "no record tells how these were made" in example.run()
    assert contents(example) == before


@pytest.fixture
def waiting(tmp_path):
    """The example before its first run, with jobs that wait at a moment."""
    example = Workflow(copy_engine(tmp_path))
    words = example.path("counting/words.py")
    words.write_text(words.read_text() + WAITS)
    return example


@pytest.mark.parametrize("moment", ["in the middle", "at the end"])
def test_after_kill_9_no_file_is_half_written_and_the_next_run_ends_well(made, waiting, moment):
    waiting.kill_when(waiting.path(moment).exists, MOMENT=moment)
    files = [path for path in (waiting.path(HARE), waiting.path(CROW)) if path.exists()]
    assert bool(files) == (moment == "at the end")
    if moment == "in the middle":  # at the end of one job the other may be anywhere
        assert any(waiting.path("results/counts").glob(".*.part"))
    assert all(map(verify_file, files))
    assert "was killed, and this folder is still locked; no run is at work. Unlock it:" in waiting.refused()
    waiting.run("--unlock")
    waiting.run()
    assert waiting.planned() == {}
    rows = [pd.read_parquet(one.path(CHART)) for one in (waiting, made)]
    assert rows[0].equals(rows[1])
    assert all(NOTHING in waiting.path(f"logs/count/{path.stem}.log").read_text() for path in files)


def test_records_are_with_the_results(example):
    shutil.rmtree(example.path(".snakemake"))
    assert example.planned() == {}


def test_files_without_records_are_taken_back(example):
    before = contents(example)
    shutil.rmtree(example.path("results/.records-results"))
    assert example.planned() == {"count": 2, "chart": 1}
    example.run()
    assert contents(example) == before
    for log in ("chart", "count/hare", "count/crow"):
        assert NOTHING in example.path(f"logs/{log}.log").read_text()
    assert example.planned() == {}


def test_copied_results_are_taken_back_where_they_are_of_the_plan(example, tmp_path):
    another = Workflow(copy_engine(tmp_path / "another"))
    for name in (CHART, HARE, CROW):  # with new times, and without records
        another.path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(example.path(name), another.path(name))
    another.edit("config.yaml", "rows: 5", "rows: 3")
    another.run()
    assert NOTHING in another.path("logs/count/hare.log").read_text()
    assert NOTHING not in another.path("logs/chart.log").read_text()
    assert len(pd.read_parquet(another.path(CHART))) == 3


def test_a_file_of_another_job_in_the_place_of_one_is_made_again(example, made, tmp_path):
    """Snakemake would believe its record, which tells of the file before."""
    other = Workflow(copy_engine(tmp_path / "other"))
    other.edit("config.yaml", "rows: 5", "rows: 3")
    other.run()
    shutil.copyfile(other.path(CHART), example.path(CHART))
    assert example.planned() == {"chart": 1}
    example.run()
    assert contents(example) == contents(made)


def test_two_runs_do_not_mix_their_files(waiting, tmp_path):
    second = Workflow(copy_engine(tmp_path / "second"))
    waiting.path("results").mkdir()
    second.path("results").symlink_to(waiting.path("results"))
    first = waiting.start(MOMENT="at the end")
    wait(waiting.path("at the end").exists, first)
    assert f"results: process {first.pid} on " in second.refused()
    kill(first)


def test_options_with_which_files_could_be_wrong_are_refused(example):
    assert "--ignore-incomplete: files in doubt would be called current" in example.refused("--ignore-incomplete")
    assert f"Call {ADOPT} with the same targets" in example.refused("--touch")


def test_results_in_a_bucket_are_refused():
    storage = SimpleNamespace(default_storage_provider="s3", default_storage_prefix="s3://mine")
    registry = SimpleNamespace(default_storage_provider=None)
    workflow = SimpleNamespace(configfiles=[], storage_settings=storage, storage_registry=registry)
    with pytest.raises(InputError, match=r"^--default-storage-provider: the results of this workflow are in a folder"):
        Guard(workflow, get_argument_parser().parse_args([]), [], Marks(), None)


def test_files_of_other_code_can_be_adopted(example):
    before = pd.read_parquet(example.path(CHART))
    example.edit("counting/bars.py", "round(share * LONGEST)", "int(share * LONGEST + 0.5)")
    variable, *command = ADOPT.partition(" snakemake ")[::2]
    assert variable == f"{ADOPTS}=1"
    text = example.run(*command[0].split()[2:], **{ADOPTS: "1"})
    assert f"adopted {CHART}; not compared: the code" in text
    assert example.planned() == {}
    assert pd.read_parquet(example.path(CHART)).equals(before)

"""The comparison of exact runs on several processors, which `make any-cpu` makes, and what the demo says elsewhere."""

import json
import os

import pandas as pd
import pytest

from densevse.artifacts.schemas.training import HISTORY
from densevse.config.load import load
from snakeproof import schema
from snakeproof.schema import REAL, Column, Schema
from snakeproof.statements import RESULTS
from tools import any_cpu, readme

KIND = Schema("made", "a file", (Column("number", REAL, "a number"),))
EPOCH = {"epoch": 1, "phase": "main", "step": 3, "learning_rate": 0.1, "loss": 2.5, "best": True, "resumed": 0}


def write_run(folder, number=1.0, loss=2.5, seconds=1.0, row="| 1.0 |"):
    """A run's results: a table, a history and an artifact, in this order."""
    results = folder / "results"
    (results / ".hidden").mkdir(parents=True)
    (results / "made.md").write_text(row)
    (results / ".hidden/made.md").write_text(str(folder))
    schema.write(pd.DataFrame([{**EPOCH, "loss": loss, "seconds": seconds}]), HISTORY, results / "history.parquet")
    schema.write(pd.DataFrame({"number": [number]}), KIND, results / "made.parquet")
    pd.DataFrame([{"loss": 3.5, "seconds": seconds}]).to_parquet(results / "network_history.parquet")
    for second, name in enumerate(("made.md", "history.parquet", "made.parquet", "network_history.parquet")):
        os.utime(results / name, (second, second))
    return folder


@pytest.fixture
def native(tmp_path, monkeypatch):
    monkeypatch.setenv(RESULTS, "results")
    return write_run(tmp_path / "native")


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({}, []),
        ({"seconds": 9.0}, []),
        ({"number": 1.0000001}, ["results/made.parquet"]),
        ({"loss": 2.5000002, "number": 2.0}, ["results/history.parquet", "results/made.parquet"]),
        ({"row": "| 1.1 |"}, ["results/made.md"]),
    ],
)
def test_files_that_differ_are_named_in_the_order_in_which_they_were_made(native, tmp_path, changes, differing):
    assert list(any_cpu.differing_files(native, write_run(tmp_path / "other", **changes))) == differing


def test_a_file_that_is_missing_differs(native, tmp_path):
    other = write_run(tmp_path / "other")
    (other / "results/history.parquet").unlink()
    assert list(any_cpu.differing_files(native, other)) == ["results/history.parquet"]


def test_without_the_emulator_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert any_cpu.main() == 2
    assert "qemu-x86_64 is not installed; on Debian and Ubuntu: apt-get install qemu-user" in capsys.readouterr().err


def test_its_settings_are_of_todays_configuration():
    found = load(any_cpu.ROOT / "config", json.loads(json.dumps(any_cpu.SETTINGS)))
    rows = found.tables["scenes"].measure
    assert {found.methods[row].paper for row in rows} == {"vse", "hm_lstm", "sm_lstm", "defrag", "sco"}


@pytest.mark.parametrize(("reason", "said"), [("no AVX2", ["Not exact here: no AVX2."]), (None, [])])
def test_the_demo_says_in_one_line_why_it_is_not_exact(monkeypatch, capsys, tmp_path, reason, said):
    monkeypatch.setattr(readme, "table", lambda results: "the table")
    monkeypatch.setattr(readme, "why_not_exact", lambda gpu: reason)
    readme.main("print", tmp_path)
    assert capsys.readouterr().out.splitlines() == ["the table", *said]

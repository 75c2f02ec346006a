import importlib
import itertools
import math
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import __main__ as bench
from benchmarks._machine import machine
from benchmarks._memory import extra_anonymous_memory

ROWS = {
    "captions": 2,
    "defrag": 5,
    "dry_run": 1,
    "features": 1,
    "generation": 1,
    "half_precision": 4,
    "given": 5,
    "hlstm": 2,
    "mcg": 3,
    "ranking": 5,
    "reading": 2,
    "regions": 4,
    "scan": 4,
    "search": 2,
    "sm_lstm": 6,
    "store": 2,
    "training": 3,
}
LONG = {"dry_run", "features", "hlstm", "mcg", "regions"}  # they start processes or compile
LINUX = {"defrag", "given", "ranking", "scan", "search", "sm_lstm"}  # memory is read from /proc


def test_each_benchmark_is_tried():
    assert set(ROWS) == set(bench.names())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in ROWS]
)
def test_a_benchmark_yields_its_rows_at_toy_size(name):
    if name in LINUX and not sys.platform.startswith("linux"):
        pytest.skip("memory is read from /proc")
    module = importlib.import_module(f"benchmarks.{name}")
    torch.set_num_threads(1)  # waiting threads take seconds if other tests run at the same time
    rows = list(module.rows(module.TOY))
    assert len({what for what, *_ in rows}) == len(rows) == ROWS[name]
    for what, target, measured, note in rows:
        assert math.isfinite(measured)
        assert measured >= 0
        assert not {"|", "\n", "nan"} & {*what, *target, *note, *note.split()}  # each is a cell of a table


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_work_that_takes_no_memory_is_counted_as_a_page_so_that_ratios_are_finite():
    assert 0 < extra_anonymous_memory(lambda: None) < 1


def test_the_table_says_machine_load_and_date(tmp_path, monkeypatch, capsys):
    ranking = importlib.import_module("benchmarks.ranking")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ranking, "rows", lambda: [("ours / theirs", "<= 2", 1.234, "a note")])
    loads = itertools.count()  # it changes all the time
    monkeypatch.setattr("os.getloadavg", lambda: (next(loads), 0, 0))
    bench.main(["ranking"])
    printed, progress = capsys.readouterr()
    table = Path(bench.KEPT).read_text(encoding="utf-8")
    assert "| ours / theirs | <= 2 | 1.23 | a note |" in table
    assert table.count("load average") == 2
    assert machine() in table
    assert printed == table
    assert "ranking: 1 of 1" in progress


def test_an_unknown_benchmark_is_refused():
    with pytest.raises(SystemExit, match="no benchmark 'rankin'; known: captions"):
        bench.main(["rankin"])

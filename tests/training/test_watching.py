"""Watchers of trainings get the rows of the history, change no byte, and do not end a training by an error."""

import logging
import os
import random
import signal

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.schemas.training import HISTORY
from densevse.config import groups
from densevse.config.registries import Registry
from densevse.config.training import TrainingJob
from densevse.runtime import project
from densevse.training import watching
from densevse.training.loop import Trainer
from snakeproof import schema
from snakeproof.statements import RESULTS
from tests import packages
from tests.trainings import train_method

PHASES = [{"name": "main", "epochs": 3, "learning_rate": 0.01}]
PARAMETERS = {"dimension": 16, "word_dimension": 8, "encoder": "gru"}
RUN = "models/vse/seed0/round0/model"
LISTS = """
OPENED = []


class Lists:
    def __init__(self, run, folder):
        self.run, self.folder, self.rows, self.closed = run, folder, [], False
        OPENED.append(self)

    def watch(self, row):
        self.rows.append(dict(row))
        row.clear()

    def close(self):
        self.closed = True


class Meddles(Lists):  # changes what a training computes with, in each of its calls
    def __init__(self, *given):
        super().__init__(*given)
        self.meddle()

    def watch(self, row):
        super().watch(row)
        self.meddle()

    def close(self):
        super().close()
        self.meddle()

    def meddle(self):
        import os, random, signal

        import numpy as np
        import torch

        torch.manual_seed(1)
        np.random.seed(1)
        random.seed(1)
        torch.set_grad_enabled(False)
        torch.set_num_threads(torch.get_num_threads() + 1)
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_autocast_enabled("cpu", True)
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        np.seterr(all="raise")
        os.chdir("/")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Exits(Lists):
    def watch(self, row):
        raise SystemExit(3)


class Interrupts(Lists):
    def watch(self, row):
        raise KeyboardInterrupt


class Fails(Lists):
    def watch(self, row):
        super().watch(row)
        raise OSError("no server")
"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv(RESULTS, str(tmp_path / "results"))
    return tmp_path / "results"


@pytest.fixture
def train(files, results, monkeypatch):
    """Trains with watchers; returns the bytes of the model, and the history without seconds."""

    def run(*watchers):
        monkeypatch.setenv(project.WATCHERS, ",".join(watchers))
        described = TrainingJob(
            method="vse", parameters=PARAMETERS, sentences=["words"], training={"batch_size": 4}, phases=PHASES, seed=0
        )
        model = (results / RUN).with_suffix(".safetensors")
        train_method(files, described, model, model.with_name("history.parquet"))
        return model.read_bytes(), schema.read(model.with_name("history.parquet"), HISTORY)

    return run


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """The watchers of an installed package that were opened."""
    monkeypatch.syspath_prepend(tmp_path)
    names = ("Lists", "Meddles", "Exits", "Interrupts", "Fails", "Absent")
    entries = {name.lower(): f"displays:{name}" for name in names}
    packages.install(tmp_path, "displays", {"__init__.py": LISTS}, groups.WATCHERS, **entries)
    registry = Registry("watcher")
    registry.add_plugins(groups.WATCHERS)
    monkeypatch.setattr(watching, "WATCHERS", registry)
    import displays

    yield displays.OPENED
    packages.forget("displays")


def die_at(monkeypatch, step):
    """Ends a training without warning before a step."""
    original, count = Trainer.step, [0]

    def stepping(*given):
        count[0] += 1
        if count[0] == step:
            raise KeyboardInterrupt
        return original(*given)

    monkeypatch.setattr(Trainer, "step", stepping)


def test_a_watcher_gets_the_rows_and_changes_no_byte(train, opened, results):
    model, history = train()
    watched, watched_history = train("lists")
    assert watched == model
    same = [column for column in history if column != "seconds"]
    assert watched_history[same].equals(history[same])
    (watcher,) = opened
    expected = watched_history.drop(columns="best")
    pd.testing.assert_frame_equal(pd.DataFrame(watcher.rows), expected, check_dtype=False, rtol=1e-6)
    assert (watcher.run, watcher.folder) == (RUN, results / "logs/lists" / RUN)
    assert watcher.closed


def test_a_resumed_training_gives_a_new_watcher_all_rows(train, opened, monkeypatch):
    with monkeypatch.context() as patch:
        die_at(patch, 8)
        with pytest.raises(KeyboardInterrupt):
            train("lists")
    train("lists")
    first, second = opened
    assert first.closed
    assert 1 <= len(first.rows) < 3
    assert [row["epoch"] for row in second.rows] == [1, 2, 3]
    assert second.rows[: len(first.rows)] == first.rows


def test_an_error_of_a_watcher_is_one_warning_and_the_others_go_on(train, opened, caplog):
    model, _ = train()
    with caplog.at_level(logging.WARNING):
        assert train("fails", "absent", "lists")[0] == model
    failing, watcher = opened
    assert len(failing.rows) == 1
    assert len(watcher.rows) == 3
    absent, fails = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "displays-of-mine 1.0" in absent
    assert fails == "logging.fails: training goes on without this watcher (OSError: no server)"


def test_a_watcher_changes_nothing_that_a_training_computes_with(train, opened, monkeypatch):
    model, history = train()
    before = computes_with()
    steps = []
    original = Trainer.step
    monkeypatch.setattr(Trainer, "step", lambda *given: (steps.append(computes_with()), original(*given))[1])
    meddled, meddled_history = train("meddles")
    assert len(opened[0].rows) == 3
    assert meddled == model
    assert meddled_history["loss"].equals(history["loss"])
    drawn = steps[0][1]  # nothing of VSE draws numbers, so all steps have the same state
    assert steps == [(before[0], drawn)] * len(steps)
    assert computes_with() == (before[0], drawn)


def computes_with():
    """The settings of this process that results depend on, and the states of random numbers."""
    settings = (
        torch.is_grad_enabled(),
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_deterministic_debug_mode(),
        torch.is_autocast_enabled("cpu"),
        torch.backends.cudnn.benchmark,
        torch.backends.cuda.matmul.fp32_precision,
        np.geterr()["over"],
        os.getcwd(),
        signal.getsignal(signal.SIGTERM) != signal.SIG_IGN,
    )
    return settings, (torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate())


def test_a_watcher_that_exits_ends_nothing(train, opened, caplog):
    model, _ = train()
    with caplog.at_level(logging.WARNING):
        assert train("exits", "lists")[0] == model
    assert len(opened[1].rows) == 3
    (told,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == "logging.exits: training goes on without this watcher (SystemExit: 3)"


def test_an_interruption_during_a_watcher_ends_the_training(train, opened):
    with pytest.raises(KeyboardInterrupt):
        train("interrupts")


def test_tensorboard_shows_each_epoch_once(train, results, monkeypatch):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with monkeypatch.context() as patch:
        die_at(patch, 8)
        with pytest.raises(KeyboardInterrupt):
            train("tensorboard")
    _, history = train("tensorboard")
    events = accumulators.EventAccumulator(str(results / "logs/tensorboard" / RUN)).Reload()
    numbers = [name for name in history if name not in ("epoch", "phase", "best")]
    assert sorted(events.Tags()["scalars"]) == sorted(numbers)
    for name in numbers:
        found = events.Scalars(name)
        assert [event.step for event in found] == [1, 2, 3]
        assert [event.value for event in found] == pytest.approx(history[name].tolist(), rel=1e-6)

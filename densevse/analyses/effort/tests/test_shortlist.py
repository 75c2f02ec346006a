"""The job of a shortlist goes on after an interruption, and trains no finished draw again."""

import pytest

from densevse.analyses.effort import training
from densevse.analyses.effort.choice import SHORTLIST
from densevse.artifacts.schemas.training import HISTORY
from densevse.training.loop import write_history
from snakeproof import schema

JOBS = [{"seed": 1, "draw": number} for number in range(3)]


@pytest.fixture
def trained(monkeypatch, tmp_path):
    """The draws that were trained, in order; the first training of draw 1 is interrupted."""
    found = []

    def write(path, rsum):
        row = dict.fromkeys((column.name for column in HISTORY.columns), 1)
        write_history([{**row, "phase": "main", "best": True, "rsum": rsum}], path)

    def train(job, code, model, history, **files):
        found.append(job["draw"])
        if found == [0, 1]:
            raise SystemExit(1)
        write(history, 300.0 + job["draw"])

    monkeypatch.setattr(training, "train", train)
    for number in range(3):
        write(tmp_path / f"first{number}.parquet", 300.0)
    return found


def run(folder, code="code", jobs=JOBS):
    histories = [str(folder / f"first{number}.parquet") for number in range(3)]
    training.train_shortlist(jobs, 6.0, histories, code, str(folder / "seed1.parquet"))
    return schema.read(folder / "seed1.parquet", SHORTLIST)


def test_finished_draws_are_not_trained_again(tmp_path, trained):
    with pytest.raises(SystemExit):
        run(tmp_path)
    assert run(tmp_path)["val_rsum"].tolist() == [300, 301, 302]
    assert trained == [0, 1, 1, 2]
    assert not list(tmp_path.glob(".work*"))


def test_draws_of_other_settings_or_code_are_trained_again(tmp_path, trained):
    with pytest.raises(SystemExit):
        run(tmp_path)
    run(tmp_path, code="changed")
    assert trained == [0, 1, 0, 1, 2]

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.training_curves.curves import joined, training_curves
from densevse.artifacts import schema
from densevse.training.loop import history_schema


def history(path, epochs, best, start=()):
    """A history whose epochs begin with `start` (0 where the model that training started from was validated)."""
    rows = pd.DataFrame({"epoch": [*start, *range(1, epochs + 1)], "step": 1, "learning_rate": 0.1, "resumed": 0})
    loss = 1 / rows["epoch"].replace(0, np.nan)
    rows = rows.assign(phase="main", seconds=1.0, loss=loss, rsum=rows["epoch"] * 10.0, best=rows["epoch"] == best)
    schema.write(rows, history_schema(["rsum"]), path, {})
    return str(path)


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_training_curves_are_reproducible(tmp_path, ending):
    rounds = [history(tmp_path / f"{n}.parquet", 3 + n, 2) for n in range(2)]
    histories = {"vse": [[rounds[0]], [rounds[1]]], "hm_lstm": [rounds]}
    training_curves(histories, "Scenes", str(tmp_path / f"a.{ending}"))
    training_curves(histories, "Scenes", str(tmp_path / f"b.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    training_curves({"vse": [[rounds[1]]]}, "Scenes", str(tmp_path / f"c.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() != (tmp_path / f"c.{ending}").read_bytes()


def test_the_start_of_a_round_stands_where_the_round_before_ended(tmp_path):
    rounds = [history(tmp_path / "0.parquet", 3, 2), history(tmp_path / "1.parquet", 2, 0, start=[0])]
    run = joined(rounds)
    assert run["epoch"].tolist() == [1, 2, 3, 3, 4, 5]
    assert run.loc[run["best"], "epoch"].tolist() == [2, 3]


def test_training_curves_of_nothing_are_an_empty_figure(tmp_path):
    training_curves({}, "Scenes", str(tmp_path / "a.svg"))
    assert b"Scenes" in (tmp_path / "a.svg").read_bytes() or (tmp_path / "a.svg").stat().st_size > 0

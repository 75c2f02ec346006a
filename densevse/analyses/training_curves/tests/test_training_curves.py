import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from densevse.analyses.training_curves import dag
from densevse.analyses.training_curves.curves import _draw_run, draw_training_curves, join_histories
from densevse.artifacts.identity import Identity
from densevse.dag.project import Project, Stage
from densevse.training.loop import history_schema
from snakeproof import schema
from snakeproof.errors import InputError
from tests.rules import ROOT, input_of


def history(path, epochs, best, start=(), **identity):
    """A history whose epochs begin with `start` (0 where the model that training started from was validated)."""
    rows = pd.DataFrame({"epoch": [*start, *range(1, epochs + 1)], "step": 1, "learning_rate": 0.1, "resumed": 0})
    loss = 1 / rows["epoch"].replace(0, np.nan)
    rows = rows.assign(phase="main", seconds=1.0, loss=loss, rsum=rows["epoch"] * 10.0, best=rows["epoch"] == best)
    schema.write(rows, history_schema(["rsum"]), path, **identity)
    return str(path)


def curves(**variants):
    """The settings of curves on scenes, with seeds and rounds of each variant."""
    found = {name: {"seeds": seeds, "val": None, "rounds": rounds} for name, (seeds, rounds) in variants.items()}
    return {"title": "Scenes", "dataset": "scenes", "variants": found}


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_training_curves_are_reproducible_in_any_order_of_histories(tmp_path, ending):
    runs = [("vse", 0, 0), ("vse", 1, 0), ("hm_lstm", 0, 0), ("hm_lstm", 0, 1)]
    named = [Identity("scenes", *run).values() for run in runs]
    paths = [history(tmp_path / f"{n}.parquet", 3 + n, 2, **one) for n, one in enumerate(named)]
    plan = curves(vse=([0, 1], ["vse"]), hm_lstm=([0], ["hm_lstm", "hm_lstm"]))
    draw_training_curves(**plan, output=str(tmp_path / f"a.{ending}"), histories=paths)
    draw_training_curves(**plan, output=str(tmp_path / f"b.{ending}"), histories=paths[::-1])
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    draw_training_curves(**curves(vse=([1], ["vse"])), output=str(tmp_path / f"c.{ending}"), histories=paths)
    assert (tmp_path / f"a.{ending}").read_bytes() != (tmp_path / f"c.{ending}").read_bytes()
    with pytest.raises(InputError, match="no history artifact is of dataset scenes, variant hm_lstm, seed 0, round 1"):
        draw_training_curves(**plan, output=str(tmp_path / f"a.{ending}"), histories=paths[:3])


def test_methods_that_rank_other_numbers_of_val_images_have_panels_of_their_own(tmp_path):
    named = [Identity("scenes", name, 0, 0).values() for name in "ab"]
    paths = [history(tmp_path / f"{n}.parquet", 3, 2, **one) for n, one in enumerate(named)]
    plan = curves(a=([0], ["a"]), b=([0], ["b"]))
    plan["variants"]["b"]["val"] = 100
    draw_training_curves(**plan, output=str(tmp_path / "a.svg"), histories=paths)
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"rsum on {number} images of val" in drawn for number in ("all", 100))
    assert "cannot be compared" in drawn


def test_the_start_of_a_round_stands_where_the_round_before_ended(tmp_path):
    rounds = [history(tmp_path / "0.parquet", 3, 2), history(tmp_path / "1.parquet", 2, 0, start=[0])]
    run = join_histories(rounds)
    assert run["epoch"].tolist() == [1, 2, 3, 3, 4, 5]
    assert run.loc[run["best"], "epoch"].tolist() == [2, 3]


def test_the_loss_of_a_round_of_one_epoch_is_a_dash(tmp_path):
    files = [history(tmp_path / "0.parquet", 3, 2), history(tmp_path / "1.parquet", 1, 0, start=[0])]
    run, axes = join_histories(files), Figure().subplots()
    _draw_run(axes, run, "loss", "C0", None)
    (alone,) = (line for line in axes.lines if line.get_marker() == "_")
    assert alone.get_xydata().tolist() == [[4, run["loss"].iloc[-1]]]


def test_training_curves_of_nothing_are_an_empty_figure(tmp_path):
    draw_training_curves(**curves(), output=str(tmp_path / "a.svg"))
    assert b"Scenes" in (tmp_path / "a.svg").read_bytes() or (tmp_path / "a.svg").stat().st_size > 0


def test_a_method_of_which_nothing_is_trained_has_no_curve():
    measured = {"tables": {"flickr8k": {"measure": ["clip"], "reference": None}}}
    assert Stage(Project(ROOT, measured), dag).target_files("flickr8k") == []


def test_a_picture_has_every_seed_and_the_variant_that_each_round_is_of():
    overrides = {
        "datasets": {"scenes": {"seeds": [3, 1]}},
        "tables": {"scenes": {"measure": ["vse", "hm_lstm_uniform"], "reference": None}},
    }
    curves = Stage(Project(ROOT, overrides), dag)
    rounds = ["hm_lstm", "hm_lstm_uniform", "hm_lstm_uniform"]
    of_all = {"seeds": [3, 1], "val": None}
    expected = {"vse": {**of_all, "rounds": ["vse"]}, "hm_lstm_uniform": {**of_all, "rounds": rounds}}
    assert curves.job("scenes").settings == {"title": "Scenes", "dataset": "scenes", "variants": expected}
    histories = input_of("training_curves", "histories", curves.histories, dataset="scenes")
    assert len(histories) == 2 + 2 * 3
    assert "results/scenes/models/hm_lstm/seed1/round0/history.parquet" in histories

"""Equal effort as the workflow plans and makes it."""

import copy

import pytest

from densevse.analyses.effort.choice import DRAWS, chosen_draw
from densevse.analyses.effort.settings import EffortSettings
from densevse.analyses.effort.table import EFFORT
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.load import load
from densevse.evaluation.recall import metrics_of
from snakeproof import schema
from snakeproof.statements import read_statement
from tests.projects import ROOT, SMALL

TARGET = "results/tables/scenes_effort.md"


def small():
    """Two rows of few draws; the rows of the registered protocol are left out."""
    values = copy.deepcopy(SMALL)
    rows = dict.fromkeys(load(ROOT / "config", {}).analysis(EffortSettings).dataset_entry("scenes").rows)
    rows |= {"vse": {"draws": 3}, "vsepp": {"draws": 2, "default_again": False}}
    values["effort"] = {"scenes": {"rows": rows, "compared_at": 2, "validation_images": 16, "fresh_seeds": [101, 102]}}
    return values


@pytest.mark.long
def test_draws_are_chosen_on_val_and_trained_again(continue_project):
    project = continue_project(small())
    planned = project.planned(TARGET)
    # Draws 0, 1, 2 of one and 0, 1 of the other; the first one's draw 0 and both chosen ones, with two seeds each.
    assert {
        name: planned[name] for name in ("train_draw", "choose_draw", "train_chosen", "retrieve_draw", "effort")
    } == {
        "train_draw": 5 + 2,
        "choose_draw": 2,
        "train_chosen": 4,
        "retrieve_draw": 5 + 2 + 4,
        "effort": 1,
    }
    project.run(TARGET)
    folder = project.folder / "results/scenes/effort"
    rows = schema.read(project.folder / "results/tables/scenes_effort.parquet", EFFORT)
    assert rows.groupby("variant").size().to_dict() == {"vse": 3, "vsepp": 2}
    for variant, of_row in rows.groupby("variant"):
        draws = schema.read(folder / variant / "draws.parquet", DRAWS)
        assert of_row["val_rsum"].tolist() == draws["val_rsum"].tolist()
        for row in of_row.itertuples():
            tried = schema.read(folder / f"{variant}/draw{row.draw}/seed0/round0/full.parquet", RETRIEVAL)
            assert row.test_rsum == metrics_of(tried)["rsum"]
        best = chosen_draw(draws)
        assert of_row["chosen"].tolist() == [draw == best for draw in range(len(draws))]
        again, first = (
            read_statement(folder / f"{variant}/{draw}/{seed}/round0/model.safetensors")
            for draw, seed in (("chosen", "seed101"), (f"draw{best}", "seed0"))
        )
        assert again.given["jobs"][best] == {**first.given["job"], "seed": 101}
        assert again.found["parameters"] == first.found["parameters"]
    table = (project.folder / TARGET).read_text()
    assert "a user's own" in table
    assert project.planned(TARGET) == {}

"""Equal effort as the workflow plans and makes it."""

import copy

import pytest

from densevse.analyses.effort.choice import CHOICE, SHORTLIST, chosen_draw
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
    """Two rows of few draws, in two runs; the rows of the registered protocol are left out."""
    values = copy.deepcopy(SMALL)
    rows = dict.fromkeys(load(ROOT / "config", {}).analysis(EffortSettings).dataset_entry("scenes").rows)
    rows |= {"vse": {"draws": 3}, "vsepp": {"draws": 2, "default_again": False, "control": True}}
    runs = [
        {"seed": first, "val_seeds": [first + 1, first + 2], "test_seeds": [first + 11, first + 12]}
        for first in (0, 50)
    ]
    changed = {"rows": rows, "compared_at": 2, "validation_images": 16, "runs": runs, "shortlist_within": 1000}
    values["effort"] = {"scenes": changed}
    return values


@pytest.mark.long
def test_a_shortlist_is_chosen_from_on_val_and_trained_again(continue_project):
    project = continue_project(small())
    planned = project.planned(TARGET)
    # In each run: draws 0, 1, 2 of one and 0, 1 of the other, and two more seeds of val for each row. With two seeds of
    # test: the first one's draw 0, both chosen ones, and the control.
    counts = {"train_draw": 7, "train_shortlist": 4, "choose_draw": 2, "train_chosen": 6, "retrieve_draw": 8}
    assert {name: planned[name] for name in counts} == {name: 2 * count for name, count in counts.items()}
    project.run(TARGET)
    folder = project.folder / "results/scenes/effort"
    rows = schema.read(project.folder / "results/tables/scenes_effort.parquet", EFFORT)
    assert rows.groupby(["run", "variant"]).size().to_dict() == {
        (run, variant): draws for run in (1, 2) for variant, draws in (("vse", 3), ("vsepp", 2))
    }
    for (run, variant), of_row in rows.groupby(["run", "variant"]):
        first = {1: 0, 2: 50}[run]
        choice = schema.read(folder / variant / f"choice/seed{first}.parquet", CHOICE)
        again = [
            schema.read(folder / variant / f"shortlist/seed{first + n}.parquet", SHORTLIST)["val_rsum"] for n in (1, 2)
        ]
        means = sum(again) / 2
        assert of_row["val_mean"].tolist() == pytest.approx(means.tolist())
        best = chosen_draw(choice)
        assert best == means.argmax()
        assert of_row["chosen"].tolist() == [draw == best for draw in range(len(choice))]
        tested = [
            schema.read(folder / f"{variant}/as_{variant}/seed{first + n}/round0/full.parquet", RETRIEVAL)
            for n in (11, 12)
        ]
        assert of_row["test_rsum"].max() == pytest.approx(sum(metrics_of(one)["rsum"] for one in tested) / 2)
        models = {
            name: read_statement(folder / f"{name}/round0/model.safetensors").given
            for name in (f"{variant}/draw{best}/seed{first}", f"{variant}/as_{variant}/seed{first + 11}")
        }
        drawn, chosen = models.values()
        assert chosen["jobs"][best] == {**drawn["job"], "seed": first + 11}
        if variant == "vsepp":
            control = read_statement(folder / f"vse/as_vsepp/seed{first + 11}/round0/model.safetensors").given["jobs"]
            assert control[best]["training"] == drawn["job"]["training"]
            assert control[best]["parameters"] == {**drawn["job"]["parameters"], "negatives": "sum"}
    table = (project.folder / TARGET).read_text()
    assert "No commit is known that registered the protocol." in table
    assert "## Runs 1 and 2" in table
    assert project.planned(TARGET) == {}

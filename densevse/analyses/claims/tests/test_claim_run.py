"""Tables of claims as the workflow plans and makes them."""

import copy
import re

import pytest

from densevse.analyses.claims.table import CLAIM_RESULTS
from densevse.artifacts.schemas.training import HISTORY
from snakeproof import schema
from tests.projects import SMALL, SMALL_ROUNDS


@pytest.mark.slow
def test_the_table_of_every_claim_trains_the_rows_that_claims_name(make_project):
    project = make_project({})
    planned = project.planned("results/tables/scenes_claims.md")
    assert (planned["claims_table"], planned["rank_regions"], planned["retrieve_by_ensemble"]) == (1, 20, 10)
    assert planned["train"] % 10 == planned["retrieve"] % 10 == 0
    status, text = project.plan("results/tables/scenes_claim.md")
    assert status != 0
    assert "is 'results/tables/scenes_claims.md' meant?" in text


@pytest.mark.long
def test_the_rows_of_the_main_table_test_claims(finished_rounds):
    assert finished_rounds.planned("results/tables/scenes_main_claims.md") == {"main_claims_table": 1}
    finished_rounds.run("results/tables/scenes_main_claims.md")
    rows = schema.read(finished_rounds.folder / "results/tables/scenes_main_claims.parquet", CLAIM_RESULTS)
    assert set(zip(rows["better"], rows["worse"], strict=True)) == {
        ("hm_lstm", "vse"),
        ("hm_lstm", "hm_lstm round 0"),
        ("hm_lstm round 1", "hm_lstm round 0"),
        ("hm_lstm round 2", "hm_lstm round 1"),
    }
    assert rows["seeds"].eq(1).all()


@pytest.mark.long
def test_an_experiment_trains_from_random_weights_on_few_images(finished_rounds, tmp_path):
    """A small version of hm_lstm_cold: phrases alone against the weights as they were drawn."""
    small = {
        "title": "Small",
        "question": "does it run?",
        "datasets": {"scenes": {"seeds": [0]}},
        "claims": {
            "path": {
                "title": "Phrases alone are better than random weights.",
                "place": "ours",
                "better": {"variant": "hm_lstm_cold_phrases_100"},
                "worse": {"variant": "hm_lstm_cold_phrases_100", "round": 0},
            }
        },
    }
    cold = {"phases": {"cold": {"epochs": 1}}, "training": {"training_images": 20}}
    values = copy.deepcopy(SMALL_ROUNDS) | {"claims": {"small": small}}
    values["methods"]["hm_lstm"]["variants"] = {"hm_lstm_cold_phrases_100": cold}
    project = finished_rounds.copy(tmp_path / "project", values)
    target = "results/experiments/small.md"
    jobs = {"train": 1, "correspond": 1, "train_round": 1, "retrieve": 2, "experiment": 1}
    assert project.planned(target) == jobs
    project.run(target)
    assert "- Question: does it run?" in (project.folder / target).read_text()
    history = project.folder / "results/scenes/models/hm_lstm_cold_phrases_100/seed0/round1/history.parquet"
    assert schema.read(history, HISTORY)["step"].max() <= 20 * 5 // 64 + 1


@pytest.mark.long
def test_an_experiment_takes_means_over_resplits_of_scenes(finished, tmp_path):
    values = copy.deepcopy(SMALL)
    values["datasets"] |= {
        f"again{seed}": {
            "title": f"Scenes, resplit {seed}",
            "resplit": {"of": "scenes", "seed": seed, "train": 40, "val": 12, "test": 20},
        }
        for seed in (0, 1)
    }
    values["methods"]["vse"]["ensembles"] = {"vse_two": {"title": "VSE twice", "members": ["vse"], "seeds_each": 2}}
    values["claims"] = {
        "small": {
            "title": "Small",
            "question": "does it run?",
            "datasets": {"again0": {}, "again1": {}},
            "claims": {
                "two": {
                    "title": "Two models of VSE are better than one of VSE++.",
                    "place": "ours",
                    "better": {"variant": "vse_two"},
                    "worse": {"variant": "vsepp"},
                }
            },
        }
    }
    project = finished.copy(tmp_path / "project", values)
    target = "results/experiments/small.md"
    planned = project.planned(target)
    assert (planned["resplit"], planned["train"], planned["retrieve_by_ensemble"]) == (2, 6, 2)
    project.run(target)
    rows = schema.read(project.folder / "results/experiments/small.parquet", CLAIM_RESULTS)
    assert rows["dataset"].tolist() == ["scenes", "again0", "again1"]
    assert rows["gains"][0].tolist() == rows["gain"][1:].tolist()
    assert rows["gain_low"][0] < rows["gain"][0] < rows["gain_high"][0]
    lines = (project.folder / target).read_text().splitlines()
    of_split = [re.match(r"## Scenes, resplit \d: test split, (\d+) images", line) for line in lines]
    ranked = sorted({int(found[1]) for found in of_split if found})
    text = f"over 2 random splits, each of 40 training and {' to '.join(map(str, ranked))} test images"
    assert [line for line in lines if line.startswith("## Scenes: means") and line.endswith(text)]

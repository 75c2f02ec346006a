"""The data sets with people's judgements, and the models that are compared with them."""

from functools import partial
from pathlib import Path

import pytest

from densevse.analyses.human_judgements import dag
from densevse.analyses.human_judgements.settings import AgreementPlan, JudgementSettings
from densevse.config.given import GivenLayout
from densevse.dag import tables
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.rule_values import constraint_of, job_of
from tests.rules import input_of
from tests.tiny_networks import CLIP

ROOT = Path(__file__).parents[4]


def test_judged_pairs_are_scored_by_the_last_round():
    judgements = Stage(Project(ROOT, {"tables": {"flickr8k": {"measure": ["vse", "hm_lstm"]}}}), dag)
    assert constraint_of("read_judgements", "dataset", judgements.project) == "flickr8k"
    last = judgements.project.config.methods["hm_lstm"].last_round
    assert input_of(
        "agreement_table", "scores", partial(tables.last_rounds, judgements.project), dataset="flickr8k"
    ) == [
        "results/flickr8k/pair_scores/vse/seed0/round0.parquet",
        f"results/flickr8k/pair_scores/hm_lstm/seed0/round{last}.parquet",
    ]
    source = input_of("read_judgements", "text", judgements.source, dataset="flickr8k")
    assert source == "resources/flickr8k/Flickr8k_text.zip"


def test_judgements_may_be_a_file_of_the_user_s():
    local = {"datasets": {"flickr8k": {"local": {"text": "/data/text.zip"}}}}
    source = Stage(Project(ROOT, local), dag).source
    assert input_of("read_judgements", "text", source, dataset="flickr8k") == "/data/text.zip"


def test_a_plan_is_plain_and_holds_no_paths():
    made = Project(ROOT, {"networks": {"vgg19": {"local": "/somewhere/vgg19.pth"}}})
    plan = Stage(made, dag).job("scenes").settings["plan"]
    assert AgreementPlan.model_validate(plan).model_dump(mode="json") == plan
    assert "results/" not in str(plan)
    assert "/somewhere" not in str(plan)


def test_a_given_row_of_the_main_table_is_judged_too():
    given = {"methods": {"mine": {"title": "Mine", "given": {"scores": ["a.npy", "b.npy"]}}}}
    judgements = Stage(Project(ROOT, {"tables": {"flickr8k": {"measure": ["vse", "mine"]}}} | given), dag)
    assert input_of("agreement_table", "given", judgements.given_rows, dataset="flickr8k") == [
        f"results/flickr8k/pair_scores/mine/seed{seed}/given.parquet" for seed in (0, 1)
    ]
    settings = job_of("score_given_pairs", judgements.project, dataset="flickr8k", variant="mine").settings
    assert settings.keys() == {"layout", "ranked_sentences"}
    assert settings["layout"] == GivenLayout().model_dump(mode="json")
    row = AgreementPlan.model_validate(judgements.job("flickr8k").settings["plan"]).measured["mine"]
    assert (row.title, row.seeds, row.model, row.round) == ("Mine", [0, 1], "mine", None)
    assert [values["variant"] for values in tables.last_rounds(judgements.project, "flickr8k")] == ["vse"]


def test_trained_and_given_rows_are_judged_among_the_same_sentences():
    given = {"methods": {"mine": {"title": "Mine", "given": {"scores": ["a.npy"]}}}}
    project = Project(ROOT, {"datasets": {"flickr8k": {"sentences": "first_five"}}} | given)
    for rule, variant in (("score_pairs", "vse"), ("score_given_pairs", "mine")):
        job = job_of(rule, project, dataset="flickr8k", variant=variant)
        assert job.settings["ranked_sentences"] == "first_five"


def test_a_row_without_training_is_judged_once():
    measured = {
        "networks": {"clip_tiny": {**CLIP, "local": "README.md"}},
        "methods": {"clip": {"networks": {"whole": "clip_tiny"}}},
        "datasets": {"flickr8k": {"seeds": [0, 1]}},
        "tables": {"flickr8k": {"measure": ["vse", "clip"]}},
    }
    judgements = Stage(Project(ROOT, measured), dag)
    rows = AgreementPlan.model_validate(judgements.job("flickr8k").settings["plan"]).measured
    planned = [(row.model, seed) for row in rows.values() for seed in row.seeds]
    made = [(values["variant"], values["seed"]) for values in tables.last_rounds(judgements.project, "flickr8k")]
    assert planned == made == [("vse", 0), ("vse", 1), ("clip", 0)]


def scored(**rows):
    return {"human_judgements": {"flickr8k": {"source": "text", "scored": rows}}}


def test_scores_of_judged_pairs_alone_are_a_row_for_each_file():
    made = Project(ROOT, scored(clip_s={"title": "CLIP-S", "scores": ["a.csv", "b.csv"]}))
    judgements = Stage(made, dag)
    assert input_of("agreement_table", "judged_only", judgements.scored_rows, dataset="flickr8k") == [
        f"results/flickr8k/pair_scores/clip_s/seed{seed}/judged.parquet" for seed in (0, 1)
    ]
    of = {"dataset": "flickr8k", "variant": "clip_s"}
    assert input_of("read_scored_pairs", "scores", judgements.scores_file, **of, seed=1) == "b.csv"
    assert constraint_of("read_scored_pairs", "variant", made) == r"clip_s"
    row = AgreementPlan.model_validate(judgements.job("flickr8k").settings["plan"]).measured["clip_s"]
    assert (row.title, row.seeds, row.judged_only) == ("CLIP-S", [0, 1], True)
    assert dict(made.config.analysis(JudgementSettings).paths())["human_judgements.flickr8k.scored.clip_s.scores"]


def test_a_file_of_judged_pairs_is_that_of_one_seed():
    with pytest.raises(InputError, match=r"scored\.clip_s: seeds 0 and 1 have the same contents: a\.csv and a\.csv"):
        Project(ROOT, scored(clip_s={"scores": ["a.csv", "a.csv"]}))


def test_a_row_of_judged_pairs_alone_has_a_name_of_its_own():
    with pytest.raises(InputError, match=r"human_judgements\.flickr8k\.scored\.vse: config/methods has a row 'vse'"):
        Project(ROOT, scored(vse={"scores": "a.csv"}))

"""Ballots and votes: their inputs, and the errors if something is missing."""

from pathlib import Path

import pytest

from densevse.analyses.votes import dag
from densevse.dag import inputs
from densevse.dag.project import Project, Stage
from densevse.dag.targets import OwnFiles
from snakeproof.errors import InputError
from tests.rule_values import job_of, paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[4]


def project(seeds=(0,), **votes):
    return Project(ROOT, {"datasets": {"scenes": {"seeds": list(seeds)}}, "votes": {"scenes": votes}})


HM_LSTM = {"dataset": "scenes", "variant": "hm_lstm"}


def test_a_ballot_is_of_the_last_round_of_the_first_seed():
    ballots = Stage(project(seeds=[3, 1], ballot={"pairs": 50}), dag)
    last = ballots.project.variant(**HM_LSTM).last_round
    drawn_from = input_of("draw_ballot", "correspondences", ballots.correspondences, **HM_LSTM)
    assert drawn_from == f"results/scenes/models/hm_lstm/seed3/round{last}/correspondences.parquet"
    parses = input_of("draw_ballot", "parses", Stage(ballots.project, inputs).parse_shards, **HM_LSTM)
    assert parses == ["results/scenes/parses/grammar/00-of-01.parquet"]
    assert job_of("draw_ballot", ballots.project, dataset="scenes").settings == {"pairs": 50, "seed": 0}
    assert job_of("draw_ballot", project(), dataset="scenes").settings["pairs"] == 2000


def test_the_page_of_a_ballot_names_its_variant_and_the_files_of_pictures():
    page = job_of("ballot_page", project(), **HM_LSTM).settings
    assert page["title"].startswith("Regions of phrases to judge: HM-LSTM")
    assert page["title"].endswith("on Scenes")
    assert page["source_names"] == ["scenes"]


def test_a_variant_that_learns_no_correspondences_has_no_ballot():
    with pytest.raises(InputError, match=r"vse learns no correspondences on scenes; those that do are hm_lstm, "):
        Stage(project(), dag).correspondences("scenes", "vse")


def test_votes_that_nobody_gave_are_asked_for_by_key():
    ballots = Stage(project(files={"hm_lstm_untyped": "votes.csv"}), dag)
    asked = r"votes\.scenes\.files\.hm_lstm: name a CSV .* results/scenes/ballots/hm_lstm\.html"
    with pytest.raises(InputError, match=asked):
        ballots.votes_file(**HM_LSTM)
    with pytest.raises(InputError, match=asked):
        Stage(project(), dag).voted_variants("scenes")


def test_the_table_has_a_row_for_each_file_of_votes():
    ballots = Stage(project(files={"hm_lstm_untyped": "u.csv", "hm_lstm": "v.csv"}, seeds=[2]), dag)
    assert input_of("read_votes", "text", ballots.votes_file, **HM_LSTM) == "v.csv"
    assert input_of("vote_table", "ballots", ballots.voted_variants, dataset="scenes") == [
        "results/scenes/ballots/hm_lstm_untyped.parquet",
        "results/scenes/ballots/hm_lstm.parquet",
    ]
    assert input_of("vote_table", "votes", ballots.voted_variants, dataset="scenes") == [
        "results/scenes/votes/hm_lstm_untyped.parquet",
        "results/scenes/votes/hm_lstm.parquet",
    ]
    plan = ballots.table_job("scenes").settings["plan"]
    assert (plan["seed"], list(plan["measured"])) == (2, ["hm_lstm_untyped", "hm_lstm"])


def test_true_boxes_are_read_where_phrases_have_some():
    of = {"rule": "vote_table", "name": "boxes", "project": project()}
    assert paths_of(**of, dataset="scenes") == "results/scenes/boxes.parquet"
    assert paths_of(**of, dataset="flickr8k") == []


def test_the_sheet_that_comes_with_the_ballot_is_not_taken_for_votes():
    ballots = Stage(project(files={"hm_lstm": "results/scenes/../scenes/ballots/hm_lstm.csv"}), dag)
    with pytest.raises(InputError, match=r"votes\.scenes\.files\.hm_lstm: .* Move the sheet"):
        ballots.votes_file(**HM_LSTM)


def test_a_file_of_votes_that_is_not_there_is_refused_by_its_key():
    own_files = OwnFiles(project(files={"hm_lstm": "no_such_votes.csv"}))
    with pytest.raises(InputError, match=r"votes\.scenes\.files\.hm_lstm: no_such_votes\.csv is not there"):
        own_files.refuse("no_such_votes.csv")

"""Ballots and votes: what they are made from, and what is said where something is missing."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.analyses.votes.dag import Ballots
from densevse.dag.own_files import OwnFiles
from densevse.dag.project import Project
from densevse.runtime.errors import InputError

ROOT = Path(__file__).parents[3]


def project(**dataset):
    return Project(ROOT, {"datasets": {"scenes": dataset}})


def job(variant="hm_lstm", dataset="scenes"):
    return SimpleNamespace(dataset=dataset, variant=variant)


def test_a_ballot_is_of_the_last_round_of_the_first_seed():
    ballots = Ballots(project(seeds=[3, 1], ballot={"pairs": 50}))
    last = ballots.variant(job()).last_round
    assert ballots.correspondences(job()) == f"results/scenes/models/hm_lstm/seed3/round{last}/correspondences.parquet"
    assert ballots.parses(job()) == ["results/scenes/parses/grammar/00-of-01.parquet"]
    assert ballots.drawn(job()) == {"pairs": 50, "seed": 0}
    assert Ballots(project()).drawn(job())["pairs"] == 2000


def test_a_variant_that_learns_no_correspondences_has_no_ballot():
    with pytest.raises(InputError, match=r"vse learns no correspondences on scenes; those that do are hm_lstm, "):
        Ballots(project()).correspondences(job("vse"))


def test_votes_that_nobody_gave_are_asked_for_by_key():
    ballots = Ballots(project(votes={"hm_lstm_untyped": "votes.csv"}))
    asked = r"datasets\.scenes\.votes\.hm_lstm: name a CSV .* results/scenes/ballots/hm_lstm\.html"
    with pytest.raises(InputError, match=asked):
        ballots.votes(job())
    with pytest.raises(InputError, match=asked):
        Ballots(project()).votes_of_table(job())


def test_the_table_has_a_row_for_each_file_of_votes():
    ballots = Ballots(project(votes={"hm_lstm_untyped": "u.csv", "hm_lstm": "v.csv"}, seeds=[2]))
    assert ballots.votes(job()) == "v.csv"
    assert ballots.ballots_of_table(job()) == [
        "results/scenes/ballots/hm_lstm_untyped.parquet",
        "results/scenes/ballots/hm_lstm.parquet",
    ]
    assert ballots.votes_of_table(job()) == [
        "results/scenes/votes/hm_lstm_untyped.parquet",
        "results/scenes/votes/hm_lstm.parquet",
    ]
    plan = ballots.plan("scenes")
    assert (plan.seed, list(plan.measured)) == (2, ["hm_lstm_untyped", "hm_lstm"])


def test_true_boxes_are_read_where_phrases_have_some():
    assert Ballots(project()).boxes(job()) == ["results/scenes/boxes.parquet"]
    assert Ballots(project()).boxes(job(dataset="flickr8k")) == []


def test_the_sheet_that_comes_with_the_ballot_is_not_taken_for_votes():
    ballots = Ballots(project(votes={"hm_lstm": "results/scenes/../scenes/ballots/hm_lstm.csv"}))
    with pytest.raises(InputError, match=r"datasets\.scenes\.votes\.hm_lstm: .* Move it elsewhere"):
        ballots.votes(job())


def test_a_file_of_votes_that_is_not_there_is_refused_by_its_key():
    own_files = OwnFiles(project(votes={"hm_lstm": "no_such_votes.csv"}))
    with pytest.raises(InputError, match=r"datasets\.scenes\.votes\.hm_lstm: no_such_votes\.csv is not there"):
        own_files.refuse(SimpleNamespace(absent="no_such_votes.csv"))

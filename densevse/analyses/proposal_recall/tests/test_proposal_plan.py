"""The proposers that a data set's table compares."""

from pathlib import Path

from densevse.analyses.proposal_recall import dag
from densevse.dag.project import Project, Stage
from tests.rules import input_of

ROOT = Path(__file__).parents[4]


def test_a_data_set_s_own_proposer_comes_first_and_once():
    compared = {"coco": {"proposers": ["selective_search_fast", "mcg"]}}
    own = {"coco": {"proposer": "mcg"}}
    proposals_stage = Stage(Project(ROOT, {"datasets": own, "proposal_recall": compared}), dag)
    plan = {"title": "MS-COCO", "dataset": "coco", "proposers": ["mcg", "selective_search_fast"]}
    assert proposals_stage.table_job("coco").settings == {"plan": {**plan, "timed": plan["proposers"]}}
    recalls = input_of("proposal_table", "recalls", proposals_stage.compared_proposers, dataset="coco")
    assert recalls[0] == "results/coco/proposals/mcg_recall.parquet"


def test_only_proposers_that_are_computed_here_are_timed_each_with_its_own_options():
    own = {"coco": {"proposers": ["selective_search_fast", "mcg_published"]}}
    proposals_stage = Stage(Project(ROOT, {"proposal_recall": own}), dag)
    timed = input_of("proposal_table", "times", proposals_stage.timed_proposers, dataset="coco")
    assert "results/coco/proposals/selective_search_fast_times.parquet" in timed
    assert "results/coco/proposals/mcg_published_times.parquet" not in timed
    search, mcg = (proposals_stage.times_job("coco", name).settings for name in ("selective_search_fast", "mcg"))
    assert search["options"] == {"mode": "fast", "height": None, "minimum_side": 10, "boxes": 2000}
    assert {"detector", "scales", "candidates", "superpixels", "boxes"} <= mcg["options"].keys()
    assert search["source_names"] == mcg["source_names"]

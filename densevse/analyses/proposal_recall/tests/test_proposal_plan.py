"""The proposers that a data set's table compares."""

from pathlib import Path

from densevse.analyses.proposal_recall.dag import ProposalRecallStage
from densevse.dag.project import Project
from tests.rules import input_of

ROOT = Path(__file__).parents[4]


def test_a_data_set_s_own_proposer_comes_first_and_once():
    compared = {"coco": {"proposers": ["selective_search_fast", "mcg"]}}
    own = {"coco": {"proposer": "mcg"}}
    proposals = ProposalRecallStage(Project(ROOT, {"datasets": own, "proposal_recall": compared}))
    assert proposals.compared("coco") == ["mcg", "selective_search_fast"]
    recalls = input_of("proposal_table", "recalls", proposals.recalls, dataset="coco")
    assert recalls[0] == "results/coco/proposals/mcg_recall.parquet"

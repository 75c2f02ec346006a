from importlib.util import find_spec
from pathlib import Path

import pytest

from densevse.config import environment
from densevse.dag.project import Project
from densevse.dag.proposals import ProposalStage
from densevse.runtime.errors import InputError

ROOT = Path(__file__).parents[2]


def test_mcg_names_its_extra_where_higra_is_not_installed(monkeypatch):
    proposals = ProposalStage(Project(ROOT, {}))
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "higra" else find_spec(name))
    for options in (proposals.contour_options, proposals.ranker_options, proposals.candidate_options):
        with pytest.raises(InputError, match=r"proposers\.mcg: MCG needs higra.*pip install 'densevse\[mcg\]'"):
            options("mcg")
    assert proposals.search_options("selective_search_fast")["mode"] == "fast"

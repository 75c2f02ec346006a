from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from densevse.config import environment
from densevse.dag.features import ProposalStage
from densevse.dag.project import Project
from densevse.runtime.errors import InputError
from tests.rule_values import job_of

ROOT = Path(__file__).parents[2]


def test_mcg_names_its_extra_where_higra_is_not_installed(monkeypatch):
    project = Project(ROOT, {})
    proposals = ProposalStage(project)
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "higra" else find_spec(name))
    ranker_job = partial(job_of, "learn_ranker", project)
    for job in (partial(proposals.contours_job, dataset="flickr8k"), ranker_job, proposals.mcg_job):
        with pytest.raises(InputError, match=r"proposers\.mcg: MCG needs higra.*pip install 'densevse\[mcg\]'"):
            job(proposer="mcg")
    search = proposals.job("flickr8k", "selective_search_fast").settings["proposer"]
    assert search["options"]["mode"] == "fast"

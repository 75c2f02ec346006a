"""The plan says which jobs are exact. An exact job has one thread and float32, and its files are files of their own."""

from types import SimpleNamespace

import pytest

from densevse.dag import features
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Calls
from snakeproof.statements import Statement, job_differences
from tests.rules import ROOT

EXACT = {"exact": 1}


@pytest.fixture
def plan(monkeypatch):
    """A function that returns a configuration's project; `reason` is why jobs cannot be exact on this machine."""

    def make(config, reason=None):
        monkeypatch.setattr("densevse.dag.project.why_not_exact", lambda gpu: reason)
        return Project(ROOT, config)

    return make


def test_scenes_alone_is_exact_where_it_can_be(plan):
    project = plan({"threads": 3, "datasets": {"scenes": {"threads": 2}}})
    assert project.revisions(dataset="scenes") == project.revisions(table="scenes") == EXACT
    assert project.revisions(dataset="flickr8k") == project.revisions(table="flickr8k") == project.revisions() == {}
    assert (project.threads("scenes"), project.threads("flickr8k")) == (1, 3)
    elsewhere = plan({"datasets": {"scenes": {"threads": 2}}}, reason="no AVX2")
    assert elsewhere.revisions(dataset="scenes") == elsewhere.revisions(table="scenes") == {}
    assert elsewhere.threads("scenes") == 2


def test_the_general_key_is_that_of_each_data_set_without_its_own(plan):
    project = plan({"exact": "true", "datasets": {"scenes": {"exact": False}}})
    assert project.revisions() == project.revisions(dataset="flickr8k") == EXACT
    assert project.revisions(dataset="scenes") == {}


def test_a_table_is_exact_only_if_all_its_data_sets_are(plan):
    mixed = {"title": "Mixed", "sections": [{"dataset": "scenes"}, {"dataset": "flickr8k"}], "measure": ["vse"]}
    assert plan({"tables": {"mixed": mixed}}).revisions(table="mixed") == {}
    assert plan({"tables": {"mixed": mixed}, "exact": True}).revisions(table="mixed") == EXACT


def test_the_main_table_of_a_resplit_is_exact_as_its_data_set_is(plan):
    """config/tables has no entry of it."""
    name = "flickr8k_resplit4"
    assert plan({}).revisions(table=name) == {}
    assert plan({"exact": True}).revisions(table=name) == EXACT


def test_networks_of_exact_jobs_compute_in_float32(plan):
    default, exact = plan({}), plan({"exact": True})
    settings = [features.image_job(one, "flickr8k", "vgg19", "whole").settings for one in (default, exact)]
    assert [one["network"]["precision"] for one in settings] == ["auto", "fp32"]
    assert features.precision(exact, "flickr8k", "vgg19") is None
    assert [one["threads"] for one in settings] == [2, 1]
    for key in ({"exact": True}, {"datasets": {"flickr8k": {"exact": True}}}):
        half = plan({"networks": {"vgg19": {"precision": "bf16"}}, **key})
        with pytest.raises(InputError, match=r"networks\.vgg19\.precision: bf16 is not exact; write fp32"):
            features.image_job(half, "flickr8k", "vgg19", "whole")


def test_the_revision_of_a_job_is_by_its_data_set(plan):
    project = plan({})
    given = Calls(project.code, project.revisions).calling("densevse.language.words:write_words")["given"]

    assert dict(given(SimpleNamespace(dataset="scenes"))) == {"revisions": EXACT}
    assert dict(given(SimpleNamespace(dataset="flickr8k"))) == {}


def test_a_file_that_was_not_made_exactly_is_another_one():
    exact, other = Statement(given={"revisions": EXACT}), Statement(given={})
    assert job_differences(other, exact) == ["revisions.exact: the plan says 1, found none"]
    assert job_differences(exact, other)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"exact": True, "gpu": 1}, "exact: jobs may use a GPU; `gpu: 0` keeps them from it. Leave the key out"),
        ({"datasets": {"scenes": {"exact": True}}, "gpu": 1}, "datasets.scenes.exact: jobs may use a GPU"),
        ({"exact": "always"}, "exact"),
    ],
)
def test_what_cannot_be_exact_is_refused_before_the_first_job(make_project, config, message):
    status, text = make_project(config).plan("results/tables/scenes.md")
    assert status != 0
    assert message in text

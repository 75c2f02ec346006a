"""The inputs of the table of ECCV Caption and CxC, and the errors before any job runs."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from densevse.analyses.eccv_caption import dag
from densevse.analyses.eccv_caption.plan import ExtendedTruthPlan
from densevse.config import environment
from densevse.dag.project import Project, Stage
from densevse.report.results import Outputs
from snakeproof.errors import InputError
from tests.rules import input_of, rules

ROOT = Path(__file__).parents[4]
MEASURED = {"tables": {"coco": {"measure": ["vse", "order"], "reference": "vse"}}}
LONG = {"datasets": {"coco": {"top": 50}}}


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: find_spec("json" if name == "eccv_caption" else name))


def test_the_whole_test_split_is_measured(installed):
    measured = Stage(Project(ROOT, MEASURED | LONG), dag).measured_retrievals
    assert input_of("eccv_caption_table", "retrievals", measured, dataset="coco") == [
        "results/coco/retrieval/full/vse/seed0/round0.parquet",
        "results/coco/retrieval/full/order/seed0/round0.parquet",
    ]


def test_lists_of_ten_are_refused_by_the_setting_s_path(installed):
    with pytest.raises(
        InputError, match=r"datasets\.coco\.top: .* 50 best candidates.*, and 10 are listed; set it to 50"
    ):
        Stage(Project(ROOT, MEASURED), dag).measured_retrievals("coco")


def test_the_extra_is_named_where_the_package_is_not_installed(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "eccv_caption" else find_spec(name))
    stage = Stage(Project(ROOT, MEASURED | LONG), dag)
    for made in (stage.measured_retrievals, stage.job):
        with pytest.raises(
            InputError, match=r"coco_eccv_caption.md needs eccv_caption.*install.py envs/locks/eccv-cap"
        ):
            made("coco")


def test_a_plan_is_plain_and_holds_no_paths(installed):
    plan = Stage(Project(ROOT, MEASURED | LONG), dag).job("coco").settings["plan"]
    assert ExtendedTruthPlan.model_validate(plan).model_dump(mode="json") == plan
    assert "results/" not in str(plan)


def test_the_rule_makes_every_form_of_the_table():
    assert rules()["eccv_caption_table"].arguments("output").keys() == set(Outputs._fields)

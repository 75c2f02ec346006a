"""The notes of a table of equal effort."""

import subprocess
from pathlib import Path

import pandas as pd
import pytest

from densevse.analyses.effort import dag
from densevse.analyses.effort.table import EffortPlan, Tuned, _lead_cell, _notes, judge_gain
from densevse.dag.project import Project
from densevse.runtime.project import git
from densevse.statistics.bootstrap import UNKNOWN_INTERVAL, Interval
from tools.environments import ROOT

WHO = ["-c", "user.name=a", "-c", "user.email=a@b.example"]


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        ("1a2b3c4", "The protocol was registered in commit 1a2b3c4."),
        ("", "No commit is known that registered the protocol."),
    ],
)
def test_the_first_note_says_where_the_protocol_stands(registered, expected):
    plan = EffortPlan.model_construct(registered=registered, runs=[], shortlist_within=6, compared_at=4)
    assert _notes(plan)[0] == expected


def test_a_protocol_is_registered_by_the_first_commit_that_has_it_as_it_is(tmp_path, monkeypatch):
    """A change that is not committed is not registered, and a commit of another protocol moves no registration."""

    def commit(text):
        (tmp_path / "settings.yaml").write_text(text)
        for arguments in (["add", "."], ["commit", "-qm", "x"]):
            subprocess.run(["git", "-C", str(tmp_path), *WHO, *arguments], check=True)
        return git(tmp_path, "log", "-1", "--format=%h")

    monkeypatch.setattr(dag, "REGISTERED", tmp_path / "settings.yaml")
    git(tmp_path, "init", "-q")
    registered = dag.REGISTERED.with_name("settings.yaml")
    used = (Path(dag.__file__).parent / "settings.yaml").read_text()
    commit(used.replace("[0.1, 10]", "[0.01, 100]"))
    first = commit(used)
    commit(used.replace("flickr8k_resplit0:", "flickr8k_resplit1:"))
    project = Project(ROOT, {})
    assert dag._registered_commit(project, "scenes") == first
    assert dag._registered_commit(project, "flickr8k_resplit0") == ""
    registered.write_text(used)
    assert dag._registered_commit(Project(ROOT, {"effort": {"scenes": {"drawn_by": 3}}}), "scenes") == ""


def test_the_lead_on_val_is_on_the_second_best_of_the_shortlist():
    choice = pd.DataFrame(
        {
            "draw": [0, 1, 2, 3],
            "val_again": [[400.0, 402.0, 401.0], [], [398.0, 405.0, 406.0], [390.0, 391.0, 392.0]],
            "chosen": [False, False, True, False],
        }
    )
    row = Tuned("vse", "VSE", choice, None, None, None)
    assert row.lead.tolist() == [-2, 3, 5]
    assert _lead_cell(row) == "2.0 (3.6)"
    assert (
        _lead_cell(Tuned("vse", "VSE", choice.assign(val_again=[[], [], [1.0, 2.0], []]), None, None, None)) == "alone"
    )


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [((0.1, 5), "better"), ((-5, -0.1), "worse"), ((-0.1, 5), "not shown"), (UNKNOWN_INTERVAL, "undecided")],
)
def test_a_verdict_of_a_run_is_that_of_its_interval(gain, verdict):
    assert judge_gain(Interval(*gain)) == verdict

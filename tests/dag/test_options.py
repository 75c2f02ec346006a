"""The workflow refuses options; snakeproof/tests/test_options.py tests each of Snakemake's."""

import pytest
import yaml

from snakeproof.options import REFUSED
from tests.projects import ROOT, Project

TABLE = "results/tables/scenes.md"
REFUSED_RUNS = {
    "an abbreviation": (("--no-hook",), "--no-hooks: by hooks a run keeps others from its results"),
    "triggers": (("--rerun-triggers=mtime",), "--rerun-triggers: without mtime, params and input among them"),
    "records": (("--drop-metadata",), "--drop-metadata: a new file would have no record"),
    "old records": ((f"--cleanup-metadata={TABLE}",), "--cleanup-metadata: it removes the record"),
    "files in doubt": (("--ignore-incomplete",), "--ignore-incomplete: files in doubt would be called current"),
    "inputs": (("--consider-ancient=retrieve=model",), "--consider-ancient: a file would be called current though"),
    "failed jobs": (("--keep-incomplete",), "--keep-incomplete: what a failed job wrote would stay"),
}


@pytest.fixture(scope="module")
def empty(make_project):
    return make_project({})


def test_profiles_of_the_project_are_not_refused():
    """They are not parsed, as the plugins that some name are not installed."""
    for profile in ROOT.glob("profiles/*/config.yaml"):
        values = {name.replace("-", "_"): value for name, value in yaml.safe_load(profile.read_text()).items()}
        refused = values.keys() & REFUSED.keys()
        assert [name for name in refused if REFUSED[name].applies(values[name])] == [], profile


def refusal(project: Project, *options: str) -> str:
    done = project.run("--dry-run", *options, TABLE, check=False)
    assert done.returncode != 0
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED_RUNS)
def test_the_workflow_refuses_an_option(empty, what):
    options, reason = REFUSED_RUNS[what]
    assert reason in refusal(empty, *options)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--profile=mine", "--workflow-profile=mine"])
def test_the_workflow_refuses_an_option_of_a_profile(empty, option):
    (empty.folder / "mine").mkdir(exist_ok=True)
    (empty.folder / "mine/config.yaml").write_text("no-hooks: true\n")
    assert "--no-hooks: by hooks a run keeps others from its results" in refusal(empty, option)

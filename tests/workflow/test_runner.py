"""The runner of jobs: what it passes to a function, and what Snakemake compares of it."""

import pytest

from tests.projects import Project, copy_code

SNAKEFILE = """
import os, sys
sys.path.insert(0, workflow.basedir)
os.environ["PYTHONPATH"] = workflow.basedir
from densevse.dag.code import Code
from densevse.dag.jobs import Calls, Job

configfile: "test.yaml"

rule write:
    input:
        first="first.txt",
        none=[],
    output:
        "{name}.txt",
    log:
        "{name}.log",
    wildcard_constraints:
        name="made",
    threads: 1
    resources:
        mem_mb=100,
    params:
        **Calls(Code(workflow.basedir, ".snakemake/facts.json")).calling("densevse.extra:write", lambda: Job(config)),
    script:
        f"{workflow.basedir}/workflow/scripts/job.py"
"""
EXTRA = """
import json


def write(first, output, low, high, wildcards, threads, none="default"):
    with open(output, "w") as file:
        json.dump([first, low, high, wildcards, threads, none], file)
"""
MADE = "made.txt"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(copy_code(tmp_path_factory.mktemp("runner")))
    (made.folder / "Snakefile").write_text(SNAKEFILE)
    (made.folder / "densevse/extra.py").write_text(EXTRA)
    (made.folder / "first.txt").write_text("")
    made.configure({"low": 1, "high": 2})
    made.run(MADE)
    return made


def test_a_function_gets_what_it_asks_for(project):
    assert (project.folder / MADE).read_text() == '["first.txt", 1, 2, {"name": "made"}, 1, "default"]'


@pytest.mark.parametrize("values", [{"low": 2, "high": 1}, {"low": 1, "high": 1}, {"low": 1, "high": 2.5}])
def test_values_that_are_swapped_or_become_equal_are_seen(project, values):
    """Snakemake compares the set of params' values, without their names."""
    project.configure(values)
    try:
        assert project.planned(MADE) == {"write": 1}
    finally:
        project.configure({"low": 1, "high": 2})


def test_an_edit_of_the_runner_reruns_nothing_and_one_of_the_function_does(project):
    assert project.planned(MADE) == {}
    runner, function = project.folder / "workflow/scripts/job.py", project.folder / "densevse/extra.py"
    runner.write_text(runner.read_text() + "\nEDITED = True\n")
    assert project.planned(MADE) == {}
    function.write_text(EXTRA + "\nEDITED = True\n")
    try:
        assert project.planned(MADE) == {"write": 1}
    finally:
        function.write_text(EXTRA)


def test_a_value_that_is_not_plain_is_refused(project):
    """Snakemake would leave it out of its comparison without a word."""
    snakefile = project.folder / "Snakefile"
    snakefile.write_text(SNAKEFILE.replace("Job(config)", "Job({**config, 'low': {1, 2}})"))
    try:
        status, text = project.plan(MADE)
    finally:
        snakefile.write_text(SNAKEFILE)
    assert status != 0
    assert "a job may be given plain values only, not {1, 2}" in text


def test_a_function_that_does_not_exist_is_refused(project):
    snakefile = project.folder / "Snakefile"
    snakefile.write_text(SNAKEFILE.replace("densevse.extra:write", "densevse.extra:wrote"))
    try:
        status, text = project.plan(MADE)
    finally:
        snakefile.write_text(SNAKEFILE)
    assert status != 0
    assert "densevse.extra:wrote: no such function" in text

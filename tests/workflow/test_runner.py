"""The runner of jobs: what it passes to a function, and what Snakemake compares of it."""

import json

import pytest

from tests.projects import Project, copy_code

SNAKEFILE = """
import os, sys
sys.path.insert(0, workflow.basedir)
os.environ["PYTHONPATH"] = workflow.basedir
from densevse.dag.project import code_of
from snakeproof.jobs import Calls, Job

configfile: "test.yaml"

rule write:
    input:
        first="first.txt",
        none=[],
        sources=["first.txt"],
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
        **Calls(code_of(workflow.basedir, ".snakemake/facts.json")).calling(
            "densevse.extra:write", lambda: Job({**config, "source_names": ["images"]})
        ),
    script:
        f"{workflow.basedir}/workflow/scripts/job.py"
"""
EXTRA = """
import json


def write(first, sources, output, low, high, wildcards, threads, none="default"):
    with open(output, "w") as file:
        json.dump([first, sources, low, high, wildcards, threads, none], file)
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
    given = json.loads((project.folder / MADE).read_text())
    assert given == ["first.txt", {"images": "first.txt"}, 1, 2, {"name": "made"}, 1, "default"]


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


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        # Snakemake would leave a set out of its comparison without a word.
        ("{**config,", "{**config, 'low': {1, 2},", "a job may be given plain values only, not {1, 2}"),
        ("densevse.extra:write", "densevse.extra:wrote", "densevse.extra:wrote: no such function"),
    ],
)
def test_values_that_are_not_plain_and_functions_that_do_not_exist_are_refused(project, right, wrong, message):
    snakefile = project.folder / "Snakefile"
    assert right in SNAKEFILE
    snakefile.write_text(SNAKEFILE.replace(right, wrong))
    try:
        status, text = project.plan(MADE)
    finally:
        snakefile.write_text(SNAKEFILE)
    assert status != 0
    assert message in text

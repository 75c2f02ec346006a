"""The runner of jobs: what it passes to a function, and what Snakemake compares of it."""

import json

import pytest

from snakeproof.tests.workflows import ENGINE, Workflow

pytestmark = pytest.mark.slow
SNAKEFILE = f"""
import sys
sys.path.append({str(ENGINE.parent)!r})
from snakeproof.code import Code
from snakeproof.jobs import Calls, Job

configfile: "test.yaml"

calls = Calls(Code(workflow.basedir, ["mine"], ".snakemake/facts.json"))

def first_job():
    revisions = {{"write": config["revision"]}} if "revision" in config else {{}}
    given = {{name: value for name, value in config.items() if name != "revision"}}
    return Job({{**given, "source_names": ["images"]}}, revisions=revisions)

rule write:
    input:
        first="first.txt",
        none=[],
        sources=["first.txt"],
    output:
        "{{name}}.txt",
    log:
        "{{name}}.log",
    wildcard_constraints:
        name="made",
    threads: 1
    resources:
        mem_mb=100,
    params:
        **calls.calling("mine.extra:write", first_job, constant=[7]),
    script:
        "run.py"
"""
RUN = f"""
import sys
sys.path.append({str(ENGINE.parent)!r})
from pathlib import Path
from snakeproof.runner import run
run(snakemake, begin={{"write": lambda: Path("begun").write_text(str("mine" in sys.modules))}})
"""
EXTRA = """
import json


def write(first, sources, output, low, high, constant, wildcards, threads, none="default"):
    with open(output, "w") as file:
        json.dump([first, sources, low, high, constant, wildcards, threads, none], file)
"""
TRIGGERS = ("--rerun-triggers", "mtime", "params", "input")
MADE = ("made.txt", *TRIGGERS)


def configure(workflow, values):
    workflow.path("test.yaml").write_text(json.dumps(values))


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    made = Workflow(tmp_path_factory.mktemp("runner"))
    made.path("mine").mkdir()
    files = {"Snakefile": SNAKEFILE, "run.py": RUN, "mine/__init__.py": "", "mine/extra.py": EXTRA, "first.txt": ""}
    for name, text in files.items():
        made.path(name).write_text(text)
    configure(made, {"low": 1, "high": 2})
    made.run(*MADE)
    return made


def test_a_function_gets_what_it_asks_for(workflow):
    given = json.loads(workflow.path("made.txt").read_text())
    assert given == ["first.txt", {"images": "first.txt"}, 1, 2, [7], {"name": "made"}, 1, "default"]


@pytest.mark.parametrize("values", [{"low": 2, "high": 1}, {"low": 1, "high": 1}, {"low": 1, "high": 2.5}])
def test_values_that_are_swapped_or_become_equal_are_seen(workflow, values):
    """Snakemake compares the set of params' values, without their names."""
    configure(workflow, values)
    try:
        assert workflow.planned(*MADE) == {"write": 1}
    finally:
        configure(workflow, {"low": 1, "high": 2})


def test_a_raised_revision_makes_the_output_again_and_is_no_argument(workflow):
    configure(workflow, {"low": 1, "high": 2, "revision": 2})
    try:
        assert workflow.planned(*MADE) == {"write": 1}
        assert not workflow.path("begun").exists()
        workflow.run(*MADE)
        assert workflow.planned(*MADE) == {}
        assert workflow.path("begun").read_text() == "False"  # before the function was imported
    finally:
        configure(workflow, {"low": 1, "high": 2})
        workflow.run(*MADE)


def test_an_edit_of_the_script_reruns_nothing_and_one_of_the_function_does(workflow):
    assert workflow.planned(*MADE) == {}
    workflow.path("run.py").write_text(RUN + "\nEDITED = True\n")
    assert workflow.planned(*MADE) == {}
    workflow.path("mine/extra.py").write_text(EXTRA + "\nEDITED = True\n")
    try:
        assert workflow.planned(*MADE) == {"write": 1}
    finally:
        workflow.path("mine/extra.py").write_text(EXTRA)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        # Snakemake would leave a set out of its comparison without a word.
        ("{**given,", "{**given, 'low': {1, 2},", "a job may be given plain values only, not {1, 2}"),
        ("constant=[7]", "constant={7}", "a job may be given plain values only, not {7}"),
        ("mine.extra:write", "mine.extra:wrote", "mine.extra:wrote: no such function"),
    ],
)
def test_values_that_are_not_plain_and_functions_that_do_not_exist_are_refused(workflow, right, wrong, message):
    workflow.edit("Snakefile", right, wrong)
    try:
        text = workflow.refused("--dry-run", *MADE)
    finally:
        workflow.path("Snakefile").write_text(SNAKEFILE)
    assert message in text

"""The package, its example and its tests stand alone: they import what their requirements name, and nothing else."""

import ast
import re
import sys

import pytest

from snakeproof.tests.workflows import ENGINE

ALSO = {"yaml": "pyyaml"}
"""Modules with another name than their package."""
EXAMPLE = {"snakeproof", "counting", "snakemake"}


def required(*files):
    text = "".join((ENGINE / file).read_text() for file in files)
    return set(re.findall(r"^([a-z]+)", text, re.MULTILINE))


def imported(*paths):
    """The packages that Python files import."""
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    found = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"snakeproof"}
    return {ALSO.get(name, name) for name in found}


def test_the_package_imports_what_its_requirements_name_and_no_more():
    modules = list(ENGINE.glob("*.py"))
    assert len(modules) > 20
    assert imported(*modules) == required("requirements.txt") - {"snakemake"}


def test_so_do_the_tests():
    own = required("tests/requirements.txt")
    found = imported(*(ENGINE / "tests").glob("*.py"))
    assert own <= found <= own | required("requirements.txt")


def test_the_example_imports_its_own_code_and_this_package():
    files = [*(ENGINE / "example").rglob("*.py")]
    assert imported(*files) <= EXAMPLE
    text = (ENGINE / "example/Snakefile").read_text()
    names = re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)
    assert set(names) - sys.stdlib_module_names <= EXAMPLE
    assert len(text.splitlines()) <= 60


@pytest.mark.skipif(not (ENGINE.parent / "pyproject.toml").exists(), reason="without the project around it")
def test_the_requirements_are_those_of_the_project():
    project = (ENGINE.parent / "pyproject.toml").read_text()
    lines = [line for line in (ENGINE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if f'"{line}"' not in project] == []

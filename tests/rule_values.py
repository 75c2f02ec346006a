"""The values of functions and expressions that a rule writes out, for a project."""

import ast
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from densevse.dag import datasets, downloads, inputs, proposals, rows, tables, training
from densevse.dag.project import Analyses, Project, Stage, name_pattern
from snakeproof.jobs import Job
from snakeproof.paths import Paths, from_wildcards
from tests.rules import FOLDERS, HEAD, rules

STAGES = {
    "datasets": datasets,
    "downloads": downloads,
    "inputs": inputs,
    "proposals": proposals,
    "rows": rows,
    "tables": tables,
    "training": training,
}


@cache
def names_in(rule: str, project: Project) -> dict[str, Any]:
    """The names that a rule knows: those of every file of rules that these expressions use, and those of its file."""
    names: dict[str, Any] = {name: Stage(project, module) for name, module in STAGES.items()}
    names |= {
        "project": project,
        "settings": project.config,
        "analyses": Analyses(project),
        "name_pattern": name_pattern,
        "Job": Job,
        "partial": partial,
    }
    exec(HEAD.split(rules()[rule].file.read_text(encoding="utf-8"))[0], names)
    return names


def evaluated(expression: ast.expr, rule: str, project: Project) -> Any:
    """The value of an expression of a rule."""
    return eval(ast.unparse(expression), names_in(rule, project))


def paths_of(rule: str, name: str, project: Project, **wildcards: object) -> str | list[str]:
    """The paths of an input: its pattern, filled by the function beside it."""
    filled = rules()[rule].arguments("input")[name]
    assert isinstance(filled, ast.Call), f"{rule}.{name} is always the same path"
    arguments = (evaluated(argument, rule, project) for argument in filled.args)
    options = {str(keyword.arg): evaluated(keyword.value, rule, project) for keyword in filled.keywords}
    return Paths(**FOLDERS).path(*arguments, **options)(_texts(wildcards))


def job_of(rule: str, project: Project, **wildcards: object) -> Job:
    """The job that a rule's function is given."""
    params = ast.parse(f"f({rules()[rule].sections['params']})", mode="eval")
    calls = [node for node in ast.walk(params) if isinstance(node, ast.Call) and ast.unparse(node.func) == "calling"]
    decide = evaluated(calls[0].args[1], rule, project)
    job: Job = from_wildcards(decide)(_texts(wildcards))
    return job


def constraint_of(rule: str, wildcard: str, project: Project) -> str:
    """The names that a wildcard of a rule may have, as a pattern."""
    return str(evaluated(rules()[rule].arguments("wildcard_constraints")[wildcard], rule, project))


def _texts(wildcards: dict[str, object]) -> SimpleNamespace:
    return SimpleNamespace(**{key: str(value) for key, value in wildcards.items()})

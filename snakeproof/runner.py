"""Runs a job of any rule: calls the function that the rule names as its param `call`.

The function's keyword arguments are the rule's named inputs and outputs and the values of its param `given`, but for
the job's revisions (snakeproof.jobs). An output without a name is `output`, and an input without files is left out, so
the function's default holds. The input `sources`, the files of a data set, is a mapping from their names, which are
given as `source_names`. `ASKED` names what a function gets only if it has such a parameter. The job's outputs state the
job (snakeproof.statements).
"""

import gc
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from snakeproof.jobs import REVISIONS
from snakeproof.logs import log_job
from snakeproof.statements import Statement, check_inputs, is_artifact, making, state_job
from snakeproof.unchanged import take_back

ASKED = ("code", "contents", "threads", "wildcards", "mem_mb")
PARAMS = ("call", "given", "code", "contents")
"""The params with a meaning of their own; any other one is an argument by its name."""


def arguments(function: Callable[..., None], rule: Any) -> dict[str, Any]:
    """The keyword arguments of a function for a job, as plain values."""
    outputs = dict(rule.output.items()) or {"output": rule.output[0]}
    files = [{name: _plain_paths(found) for name, found in rule.input.items() if found}, outputs]
    params = {name: value for name, value in rule.params.items() if name not in PARAMS}
    named: dict[str, Any] = {}
    given = {name: value for name, value in rule.params.given.items() if name != REVISIONS}
    for part in (*files, given, params):
        if twice := named.keys() & part.keys():
            raise TypeError(f"{rule.rule}: more than one argument is named {sorted(twice)}")
        named |= part
    if "source_names" in named:
        named["sources"] = dict(zip(named.pop("source_names"), named["sources"], strict=True))
    asked = inspect.signature(function).parameters.keys() & set(ASKED) - named.keys()
    return named | {name: _optional_argument(name, rule) for name in asked}


def _plain_paths(found: Any) -> str | list[str]:
    return found if isinstance(found, str) else list(found)


def _optional_argument(name: str, rule: Any) -> Any:
    if name == "wildcards":
        return dict(rule.wildcards.items())
    if name == "mem_mb":
        return rule.resources.mem_mb
    return rule.threads if name == "threads" else rule.params[name]


def run(
    rule: Any, advice: Mapping[str, str] | None = None, begin: Mapping[str, Callable[[], None]] | None = None
) -> None:
    """Runs the job of a rule, whose script calls this with Snakemake's object; `advice` is as in `log_job`.

    `begin` prepares the process of a job with a revision, by its name, before anything of the job is imported.
    """
    with log_job(rule.log[0], advice or {}):
        for revision, prepare in (begin or {}).items():
            if revision in rule.params.given.get(REVISIONS, {}):
                prepare()
        statement = Statement()
        if any(map(is_artifact, rule.output)):
            statement = state_job(rule)
            if take_back(statement, list(rule.output)):
                return
            check_inputs(list(rule.input))
        function = _import_function(rule.params.call)
        with making(statement):
            function(**arguments(function, rule))


def _import_function(call: str) -> Callable[..., None]:
    """The function "<module>:<name>", imported while Python's collector rests: it would visit all objects often."""
    module, _, name = call.partition(":")
    gc.disable()
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    finally:
        gc.freeze()
        gc.enable()

"""The jobs of rules: the function that a rule calls, and the values that the function is given.

    params:
        **calling("densevse.vision.extract:extract_features", features.image_job),

The script of a rule calls the function (snakeproof.runner). Snakemake compares the set of a rule's params and not their
names, and drops values that are not plain. So everything that a job is given is one param, a mapping of names to plain
values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from snakeproof.code import Code
from snakeproof.paths import Wildcards, from_wildcards, uncompared_param

REVISIONS = "revisions"
"""The key of a job's revisions among its settings, which the job's function does not get."""

_PLAIN = (str, int, float, bool, type(None))


class Job(NamedTuple):
    """A job's settings, the modules that it imports by names known only at run time, and its revisions.

    A fix that changes the values in a job's outputs raises a number: {"resize": 2}. Outputs without this number are
    made again, and cannot be adopted.
    """

    settings: Mapping[str, Any] = {}  # keyword arguments of the function that the rule calls
    modules: Sequence[str] = ()
    revisions: Mapping[str, int] = {}


class Given(dict[str, Any]):
    """The settings of a job. Their text has no `<`: Snakemake's report puts it into a script, which it could end."""

    def __str__(self) -> str:
        return repr(self).replace("<", "\\x3c")

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a job's process reads it before it can import this package


def _no_revisions() -> Mapping[str, int]:
    return {}


class Calls:
    """The functions that rules call."""

    def __init__(self, code: Code, revisions: Callable[..., Mapping[str, int]] = _no_revisions) -> None:
        """`revisions` returns those of a job beside its own, by the wildcards that its parameters name."""
        self._code, self._revisions = code, from_wildcards(revisions)

    def calling(self, call: str, decide: Callable[..., Job] | None = None, /, **constants: Any) -> dict[str, Any]:
        """The params of a rule that calls the function `call`, "<module>:<name>".

        `decide` returns the job of the wildcards that its parameters name, and `constants` are settings that all jobs
        of the rule share. Raises `ValueError` if there is no such function.
        """
        self._code.check(call)
        decided = from_wildcards(decide) if decide else lambda wildcards: Job()

        def code(wildcards: Wildcards) -> str:
            return self._code.digest(call, *decided(wildcards).modules)

        def given_settings(wildcards: Wildcards) -> dict[str, Any]:
            job = decided(wildcards)
            revised = {**self._revisions(wildcards), **job.revisions}
            revisions = {REVISIONS: revised} if revised else {}
            return Given(_plain_value({**job.settings, **constants, **revisions}, call))

        return {"call": call, "code": code, "given": given_settings}

    def calling_once(self, call: str, /) -> dict[str, Any]:
        """The params of a rule whose output stays when code changes, such as a download.

        Snakemake compares none of them, so what decides the output is another param of the rule.
        """
        self._code.check(call)
        given: dict[str, Any] = {}
        return {"call": uncompared_param(lambda: call), "given": uncompared_param(lambda: given)}

    def sources(self, rules: Iterable[Any]) -> dict[str, tuple[str, str]]:
        """The name of each of Snakemake's `rules` that calls a function -> the function, and its text."""
        named = {rule.name: rule.params.get("call") for rule in rules}
        # What Snakemake does not compare is a function of the wildcards.
        calls = {name: call(None, threads=1) if callable(call) else call for name, call in named.items() if call}
        return {name: (call, self._code.source(call)) for name, call in calls.items()}


def _plain_value(value: Any, where: str) -> Any:
    """The value, with lists in the place of tuples. Raises `TypeError` for one that Snakemake would not compare."""
    if isinstance(value, Mapping):
        return {name: _plain_value(one, f"{where}.{name}") for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(one, where) for one in value]
    if type(value) not in _PLAIN:
        raise TypeError(f"{where}: a job may be given plain values only, not {value!r}")
    return value


def growing(amount: int | Callable[..., int]) -> Callable[[Wildcards, int], int]:
    """A request that is twice as large at a job's second attempt, and three times at its third.

    `amount` is the request of the first attempt, or a function that computes it from the job's wildcards.
    """
    decide = from_wildcards(amount) if callable(amount) else lambda wildcards: amount

    def scale_request(wildcards: Wildcards, attempt: int) -> int:
        return decide(wildcards) * attempt

    return scale_request

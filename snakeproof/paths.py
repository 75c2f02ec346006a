"""Fills path patterns and params of rules from a job's wildcards and from the configuration.

A rule shows the paths of its inputs, and a function fills in the names that the job's wildcards do not have:

    parses=path("<results>/{dataset}/parses/{parser}/{shard}.parquet", parses.parse_shards),

Such functions take plain values: the wildcards that their parameters name.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any, Protocol, TypeVar

from snakeproof.contents import Contents

Values = Mapping[str, Any]
"""The values of the names in the braces of a pattern."""

Decided = str | Values | Sequence[str | Values] | None
"""Values fill the pattern, once or several times; text is a whole path, such as a user's file; None is no file."""

Result = TypeVar("Result")
_Found = tuple[str, bool]
NUMBERS = {"seed", "round"}
"""The wildcards that count repetitions, which functions get as int."""


class Wildcards(Protocol):
    """The wildcards of a job, always text; a project may have types of its own for some."""

    def __getattr__(self, name: str) -> Any: ...


def from_wildcards(decide: Callable[..., Result]) -> Callable[[Wildcards], Result]:
    """Makes `decide` a function of a job's wildcards: it gets those that its parameters name, seeds and rounds as int.

    A parameter with a default is left out if the rule has no such wildcard.
    """

    def decide_value(wildcards: Wildcards) -> Result:
        return decide(**_arguments(decide, wildcards))

    return decide_value


def uncompared_param(decide: Callable[..., Result]) -> Callable[[Wildcards, int], Result]:
    """Makes `decide` a function of a job's wildcards for a param that no result depends on: a change reruns nothing.

    Snakemake compares no params that are functions of `threads`, as these differ from run to run.
    """

    def decide_value(wildcards: Wildcards, threads: int) -> Result:
        return decide(**_arguments(decide, wildcards))

    return decide_value


def _no_values() -> Values:
    return {}


def _always() -> bool:
    return True


class Paths:
    """Path patterns below the folders that `pathvars` name, such as <results>."""

    def __init__(self, contents: Contents | None = None, **pathvars: str) -> None:
        self._contents, self._pathvars = contents or Contents(), pathvars

    def path(
        self, pattern: str, decide: Callable[..., Decided] = _no_values, when: Callable[..., bool] = _always
    ) -> Callable[[Wildcards], str | list[str]]:
        """An input function: the paths that result from `pattern`, wildcards and the values of `decide`.

        There are none for a job of which `when` is not true.
        Each path is there once, except in lists of sources, where two sources may have one path.
        Snakemake ignores the times of the user's files; a digest of their contents belongs into `params`.
        """
        obtained = pattern.startswith(("<resources>", "<project>", "<package>"))

        def mark_input(path: str, is_own: bool) -> str:
            return self._contents.mark_path(path) if obtained or is_own else path

        return self._input_function(pattern, decide, when, mark_input)

    def local_path(
        self, pattern: str, decide: Callable[..., Decided] = _no_values
    ) -> Callable[[Wildcards], str | list[str]]:
        """An input function as of `path`, for the user's files; they stay on Snakemake's machine, never in a bucket."""
        return self._input_function(pattern, decide, _always, lambda path, is_own: self._contents.mark_local_path(path))

    def _input_function(
        self,
        pattern: str,
        decide: Callable[..., Decided],
        when: Callable[..., bool],
        marked: Callable[[str, bool], str],
    ) -> Callable[[Wildcards], str | list[str]]:
        """An input function of paths that are marked for Snakemake."""
        decided = self._pattern_filler(pattern, decide, when)

        def paths(wildcards: Wildcards) -> str | list[str]:
            found = decided(wildcards)
            if not isinstance(found, list):
                return marked(*found)
            every = [marked(*one) for one in found]
            # The job pairs sources with their names, and two sources may be one folder of the user's.
            return every if pattern.startswith("<resources>") else list(dict.fromkeys(every))

        return paths

    def contents(
        self, pattern: str, decide: Callable[..., Decided] = _no_values, when: Callable[..., bool] = _always
    ) -> Callable[[Wildcards], list[str]]:
        """A function for `params`: digests of the contents of the user's files among the same paths."""
        decided = self._pattern_filler(pattern, decide, when)

        def digests(wildcards: Wildcards) -> list[str]:
            found = decided(wildcards)
            paths = [path for path, _ in (found if isinstance(found, list) else [found])]
            return self._contents.digests(*dict.fromkeys(paths))

        return digests

    def contents_of_each(
        self, **inputs: tuple[str, Callable[..., Decided]]
    ) -> Callable[[Wildcards], dict[str, list[str]]]:
        """The same for several inputs: name -> pattern and the function that decides it."""
        digests = {name: self.contents(*one) for name, one in inputs.items()}
        return lambda wildcards: {name: of_job(wildcards) for name, of_job in digests.items()}

    def _pattern_filler(
        self, pattern: str, decide: Callable[..., Decided], when: Callable[..., bool]
    ) -> Callable[[Wildcards], _Found | list[_Found]]:
        """A function that fills the pattern for a job: paths, each with True if it is the user's, as whole ones are."""
        whole = self.expand_pathvars(pattern)

        def path(wildcards: Wildcards, one: str | Values) -> _Found:
            return (one, True) if isinstance(one, str) else (whole.format_map(_Names(wildcards, one)), False)

        def fill_pattern(wildcards: Wildcards) -> _Found | list[_Found]:
            if not when(**_arguments(when, wildcards)):
                return []
            decided = decide(**_arguments(decide, wildcards))
            if isinstance(decided, str | Mapping):
                return path(wildcards, decided)
            return [path(wildcards, one) for one in decided or ()]

        return fill_pattern

    def expand_pathvars(self, pattern: str) -> str:
        """The pattern with folders in the place of its <names>."""
        while found := re.search(r"<(\w+)>", pattern):
            pattern = pattern.replace(found[0], self._pathvars[found[1]])
        return pattern.removeprefix("./")


class _Names(Mapping[str, Any]):
    """The values of a pattern's names: decided values first, then wildcards."""

    def __init__(self, wildcards: Wildcards, values: Values) -> None:
        self._wildcards, self._values = wildcards, values

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else getattr(self._wildcards, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _arguments(decide: Callable[..., Any], wildcards: Wildcards) -> dict[str, Any]:
    return {
        name: int(getattr(wildcards, name)) if name in NUMBERS else getattr(wildcards, name)
        for name, optional in _parameters(decide)
        if not optional or hasattr(wildcards, name)
    }


@cache
def _parameters(decide: Callable[..., Any]) -> tuple[tuple[str, bool], ...]:
    """The parameters of a function, each with whether it is optional."""
    return tuple((name, one.default is not Parameter.empty) for name, one in signature(decide).parameters.items())

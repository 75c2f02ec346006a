"""Targets that no rule makes, such as a misspelt path or rule.

Snakemake rejects such a target without a suggestion. So these targets are outputs of the rule `unknown`. It is planned
if one is requested, and its parameter raises an error, as with the rule `absent`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple

from densevse.config.load import FOLDERS
from densevse.dag.project import Project, Stage
from densevse.runtime.errors import InputError

_GROUP, _SAME = re.compile(r"\(\?P<\w+>"), re.compile(r"\(\?P=\w+\)")
_SEGMENT, _SUFFIX = re.compile(r"(?<=/)[\w-]+(?=/|\.\w+$)"), re.compile(r"\(\?P<dataset>[^()]*\)(_\w+)")
_ENDINGS = ("md", "html", "csv", "parquet", "svg", "safetensors")
_ALIKE = 10
"""The largest number of names that are compared as whole paths with a misspelt one."""


class Known(NamedTuple):
    """All targets that rules make."""

    rules: Callable[[], list[str]]  # names of rules that can be targets, after all are read
    patterns: list[str]  # regular expressions of the paths
    makes: Callable[[str], bool]  # true for a path that a rule makes


def unmade(target: str, near: str | None = None) -> str:
    """The message about a target that no rule makes; `near` is the most similar one, if there is one."""
    meant = f"is {near!r} meant?" if near else "docs/artifacts.md lists the paths."
    return f"{target}: no rule makes this; {meant} `densevse list` prints every name."


class TargetStage(Stage):
    """Targets that no rule makes."""

    def __init__(self, project: Project, known: Known) -> None:
        super().__init__(project)
        self._known = known

    def unknown(self, own: Iterable[str]) -> str:
        """A regular expression for paths below results and downloads that no rule makes, and for single words.

        `own` are the user's paths, which may have such a name.
        """
        patterns = [_SAME.sub(".+", _GROUP.sub("(?:", pattern.removesuffix("$"))) for pattern in self._known.patterns]
        known = "|".join([*patterns, *map(re.escape, own)])
        return rf"(?!(?:{known})$)(?:(?:{re.escape(self.results)}|{re.escape(self.resources)})/.+|[a-z]\w*)"

    def refuse(self, unknown: str) -> None:
        """Raises `InputError` that suggests the target most similar to one that no rule makes."""
        raise InputError(unmade(unknown, self.near(unknown)))

    def near(self, target: str) -> str | None:
        """The most similar target, if one name or the ending is misspelt; None if none is similar."""
        if "/" not in target:
            tables = {f"{self.results}/tables/{name}.md": name for name in (*self.config.tables, *self.config.datasets)}
            alike = get_close_matches(target, {*self._known.rules(), *tables.values()}, 1)
            return next((path for path, name in tables.items() if [name] == alike), *alike) if alike else None
        found = [path for path in self._alike(target) if self._known.makes(path)]
        return max(found, key=lambda path: SequenceMatcher(None, path, target).ratio(), default=None)

    def _alike(self, target: str) -> Iterator[str]:
        """Paths in which one name, or the ending, is replaced by a similar one."""
        parts = target.split("/")
        for place, part in enumerate(parts):
            stem, dot, ending = part.partition(".")
            for name in self._names_like(stem):
                for one in dict.fromkeys((ending, *(_ENDINGS if dot else ()))):
                    yield "/".join([*parts[:place], name + dot + one, *parts[place + 1 :]])

    def _names_like(self, stem: str) -> Iterator[str]:
        """Names that are similar to a part of a path, or have its beginning and a similar end."""
        names, words = self._names(), stem.split("_")
        yield from get_close_matches(stem, names, _ALIKE)
        for count in range(1, len(words)):
            head, tail = "_".join(words[:count]), "_".join(words[count:])
            yield from (f"{head}_{name}" for name in get_close_matches(tail, names, _ALIKE))

    def _names(self) -> set[str]:
        """Every name that may be a part of a path: those of the configuration, and those in patterns."""
        config, patterns = self.config, [pattern.replace("\\", "") for pattern in self._known.patterns]
        names = {name for folder in FOLDERS for name in getattr(config, folder)}
        names |= {*config.variant_names(), *config.generator_names(), *config.ensembles()}
        names |= {name for pattern in patterns for name in _SEGMENT.findall(pattern)}
        ends = {end for pattern in patterns for end in _SUFFIX.findall(pattern)}
        return names | {f"{dataset}{end}" for dataset in config.datasets for end in ends}

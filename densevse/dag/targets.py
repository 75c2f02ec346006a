"""Files and targets that no rule makes, and the rules that make the others.

If a job's input is missing but its output exists, Snakemake silently drops the job. With a wrong path in the
configuration, results of another file would remain under its name. Snakemake does not do that for a file that some rule
makes. So missing paths are outputs of the rule `absent`. It is planned if a target needs one of them, and its parameter
raises an error before any job runs, in a dry run too. The rule `unknown` does the same for targets that no rule makes,
such as a misspelt path or rule, which Snakemake rejects without a suggestion.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from densevse.config.environment import corenlp_home
from densevse.config.load import FOLDERS
from densevse.config.sources import own_paths
from densevse.dag.project import Project, name_pattern, wildcard_patterns
from densevse.dag.tables import names
from snakeproof.contents import is_in_bucket
from snakeproof.errors import InputError


class OwnFiles:
    """Paths that the user set, or that come with the project."""

    def __init__(self, project: Project, missing: Callable[[str], str | None] = lambda address: None) -> None:
        """`missing` gives Snakemake's name of an address in a bucket where nothing lies; None where something does.

        Raises `InputError` for a user's folder that holds results of the workflow, as it would always change.
        """
        self._project, self._missing = project, missing
        made = [os.path.realpath(folder) for folder in (self._project.results, self._project.resources, ".snakemake")]
        for key, path in self._local_paths():
            for folder in made:
                if os.path.commonpath([os.path.realpath(path), folder]) == os.path.realpath(path):
                    raise InputError(
                        f"{key}: {path} contains {folder}, which changes in each run; name another folder."
                    )

    def absent_pattern(self, makers: Callable[[str], list[str]]) -> str:
        """The missing paths that no rule makes."""
        return name_pattern(path for path in self._absent_paths() if not makers(path))

    def paths(self) -> list[str]:
        """The paths of the configuration."""
        return [path for _, path in self._keyed_paths]

    def refuse(self, absent: str) -> None:
        """Raises `InputError` that names the key of a missing path."""
        path, keys = self._absent_paths()[absent]
        named = " and ".join(dict.fromkeys(keys))
        raise InputError(f"{named}: {path} is not there. Correct the path, or remove the key from your configuration.")

    def copy_pattern(self, folders: bool, all_of_them: bool) -> str:
        """A pattern of the copies, in a bucket, of the user's files or, with `folders`, of the user's folders.

        Of paths that are not here, as those of another machine, there are none, unless `all_of_them` are asked for:
        those are files that the rule `absent` refuses.
        """
        here = [path for _, path in self._local_paths() if all_of_them or os.path.exists(path)]
        return name_pattern(self._copies([path for path in here if os.path.isdir(path) == folders]))

    def original(self, own_copy: str) -> str:
        """The path that a copy is of."""
        return self._copies([path for _, path in self._local_paths()])[own_copy]

    def _copies(self, paths: list[str]) -> dict[str, str]:
        """The path of each copy, by the copy's name; empty where results lie on a disk."""
        uploads = self._project.contents.uploads
        if uploads is None:
            return {}
        copied = {uploads.bucket_path(path): path for path in paths if not uploads.is_uploaded(path)}
        return {copy.removeprefix(f"{uploads.folder}/"): path for copy, path in copied.items()}

    def _absent_paths(self) -> dict[str, tuple[str, list[str]]]:
        """Snakemake's name of a path -> the path, and the keys that name it."""
        found: dict[str, tuple[str, list[str]]] = {}
        for key, path in self._keyed_paths:
            name = self._missing(path) if is_in_bucket(path) else None if os.path.exists(path) else path
            if name is not None:
                found.setdefault(name, (path, []))[1].append(key)
        return found

    def _local_paths(self) -> Iterator[tuple[str, str]]:
        """The keys and paths of the configuration, without addresses in a bucket."""
        yield from ((key, path) for key, path in self._keyed_paths if not is_in_bucket(path))

    @cached_property
    def _keyed_paths(self) -> list[tuple[str, str]]:
        """The keys and paths of the configuration."""
        return list(_find_paths(self._project))


def _find_paths(project: Project) -> Iterator[tuple[str, str]]:
    """The keys and paths of the configuration."""
    config, corenlp = project.config, corenlp_home()
    yield from [("CORENLP_HOME", corenlp)] if corenlp else []
    for settings in config.analyses():
        yield from settings.paths()
    for folder in FOLDERS:
        yield from own_paths(getattr(config, folder), folder)
    for name, network in config.networks.items():
        if network.classes not in (None, "imagenet"):
            yield f"networks.{name}.classes", project.packaged_file(str(network.classes))
        if network.folder is not None:
            yield f"networks.{name}.architecture", network.folder


BY_HAND = "obtain_by_hand"
"""The rule whose files the user obtains by hand."""


class Makers:
    """The rules of a workflow, whose files may still be read at this time."""

    def __init__(self, workflow: Any, pattern: Callable[[str], str], place: Callable[[str], str] = str) -> None:
        """`pattern` is Snakemake's: a path with wildcards -> its regular expression.

        `place` gives the name by which rules call a path: that of a local copy where results lie in a bucket.
        """
        self._workflow, self._pattern, self._place = workflow, pattern, place

    def rule_names(self, path: str) -> list[str]:
        """The names of the rules that make a path."""
        path = self._place(path)
        return [rule.name for rule in self._workflow.rules if _may_make(rule, path) and rule.is_producer(path)]

    def is_made(self, path: str) -> bool:
        """True if a rule makes a path; a file that is obtained by hand is the user's."""
        return any(name != BY_HAND for name in self.rule_names(path))

    def patterns(self) -> list[str]:
        """Regular expressions of the paths that rules make, none of which is compiled here: that takes long."""
        folder = re.escape(self._place("x").removesuffix("x"))
        products = (product for rule in self._workflow.rules for product in rule.products())
        return [self._pattern(str(product)).removeprefix(folder) for product in products]


def _may_make(rule: Any, path: str) -> bool:
    """True if an output of a rule has the path's first and last part, a cheap test before a full match."""
    return any(path.startswith(first) and path.endswith(last) for first, last in map(_constant_ends, rule.output))


@cache
def _constant_ends(file: Any) -> tuple[str, str]:
    """The first and the last part of an output, without wildcards."""
    return file.constant_prefix(), file.constant_suffix()


_GROUP, _SAME = re.compile(r"\(\?P<\w+>"), re.compile(r"\(\?P=\w+\)")
_PLAIN = r"[^()\[\]\\]|\\.|\[(?:[^\]\\]|\\.)*\]"  # a part of a constraint: a character, or a set of them
_WILDCARD = re.compile(rf"(\(\?P<\w+>(?:{_PLAIN}|\((?:{_PLAIN}|\((?:{_PLAIN})*\))*\))*\))")
_SEGMENT, _SUFFIX = re.compile(r"(?<=/)[\w-]+(?=/|\.\w+$)"), re.compile(r"\(\?P<dataset>[^()]*\)(_\w+)")
_ENDINGS = ("md", "html", "csv", "parquet", "svg", "safetensors")
_ALIKE = 10
"""The largest number of names that are compared as whole paths with a misspelt one."""


def _union(patterns: Iterable[Sequence[str]]) -> str:
    """One regular expression of several, each in parts. First parts that are the same stand once: they are long."""
    rests: dict[str, list[Sequence[str]]] = {}
    for parts in patterns:
        rests.setdefault("".join(parts[:1]), []).append(parts[1:])
    return f"(?:{'|'.join(first + (_union(rest) if any(rest) else '') for first, rest in rests.items())})"


class Known(NamedTuple):
    """All targets that rules make."""

    rules: Callable[[], list[str]]  # names of rules that can be targets, after all are read
    patterns: list[str]  # regular expressions of the paths
    makes: Callable[[str], bool]  # true for a path that a rule makes


_TABLE, _IN_BRACES = re.compile(r'"<results>/tables/([^".]+)[^"]*"'), re.compile(r"\{(\w+)\}")


def check_tables_are_made(project: Project, targets: Iterable[str], rules: Iterable[Path]) -> None:
    """Raises `InputError` for a target in the folder of tables that no rule makes, by the text of all `rules`."""
    folder = f"{project.results}/tables/"
    asked = [target for target in targets if target.startswith(folder)]
    if not asked:
        return
    values = wildcard_patterns(project) | {"table": name_pattern(names(project))}
    paths = {path for file in rules for path in _TABLE.findall(file.read_text(encoding="utf-8"))}
    named = [_IN_BRACES.sub(lambda found: f"(?P<{found[1]}>{values.get(found[1], '.+')})", path) for path in paths]
    patterns = [rf"{re.escape(folder)}{path}\.\w+" for path in named]

    def is_made(path: str) -> bool:
        return any(re.fullmatch(pattern, path) for pattern in patterns)

    unknown = UnknownTargets(project, Known(list, patterns, is_made))
    for target in asked:
        if not is_made(target):
            unknown.refuse(target)


def unmade_message(target: str, near: str | None = None) -> str:
    """The message about a target that no rule makes; `near` is the most similar one, if there is one."""
    meant = f"is {near!r} meant?" if near else "docs/artifacts.md lists the paths."
    return f"{target}: no rule makes this; {meant} `densevse list` prints every name."


class UnknownTargets:
    """Targets that no rule makes."""

    def __init__(self, project: Project, known: Known) -> None:
        self._project, self._known = project, known

    def unknown_pattern(self, own: Iterable[str]) -> str:
        """A regular expression for paths below results and downloads that no rule makes, and for single words.

        Logs, two fifths of the patterns, are left to Snakemake. `own` are the user's paths, which may have such a name.
        """
        results, resources = re.escape(self._project.results), re.escape(self._project.resources)
        logs = f"{results}/logs/"
        patterns = [_SAME.sub(".+", one.removesuffix("$")) for one in self._known.patterns if not one.startswith(logs)]
        known = _union([*map(_WILDCARD.split, patterns), *([re.escape(path)] for path in own), [f"{logs}.+"]])
        return rf"(?!{_GROUP.sub('(?:', known)}$)(?:(?:{results}|{resources})/.+|[a-z]\w*)"

    def refuse(self, unknown: str) -> None:
        """Raises `InputError` that suggests the target most similar to one that no rule makes."""
        raise InputError(unmade_message(unknown, self.similar_target(unknown)))

    def similar_target(self, target: str) -> str | None:
        """The most similar target, if one name or the ending is misspelt; None if none is similar."""
        if "/" not in target:
            tables = {
                f"{self._project.results}/tables/{name}.md": name
                for name in (*self._project.config.tables, *self._project.config.datasets)
            }
            alike = get_close_matches(target, {*self._known.rules(), *tables.values()}, 1)
            return next((path for path, name in tables.items() if [name] == alike), *alike) if alike else None
        found = [path for path in self._similar_paths(target) if self._known.makes(path)]
        return max(found, key=lambda path: SequenceMatcher(None, path, target).ratio(), default=None)

    def _similar_paths(self, target: str) -> Iterator[str]:
        """Paths in which one name, or the ending, is replaced by a similar one."""
        parts = target.split("/")
        for place, part in enumerate(parts):
            stem, dot, ending = part.partition(".")
            for name in self._similar_names(stem):
                for one in dict.fromkeys((ending, *(_ENDINGS if dot else ()))):
                    yield "/".join([*parts[:place], name + dot + one, *parts[place + 1 :]])

    def _similar_names(self, stem: str) -> Iterator[str]:
        """Names that are similar to a part of a path, or have its beginning and a similar end."""
        names, words = self._names(), stem.split("_")
        yield from get_close_matches(stem, names, _ALIKE)
        for count in range(1, len(words)):
            head, tail = "_".join(words[:count]), "_".join(words[count:])
            yield from (f"{head}_{name}" for name in get_close_matches(tail, names, _ALIKE))

    def _names(self) -> set[str]:
        """Every name that may be a part of a path: those of the configuration, and those in patterns."""
        config, patterns = self._project.config, [pattern.replace("\\", "") for pattern in self._known.patterns]
        names = {name for folder in FOLDERS for name in getattr(config, folder)}
        names |= {*config.variant_names(), *config.generator_names(), *config.ensembles()}
        names |= {name for pattern in patterns for name in _SEGMENT.findall(pattern)}
        ends = {end for pattern in patterns for end in _SUFFIX.findall(pattern)}
        return names | {f"{dataset}{end}" for dataset in config.datasets for end in ends}

"""Reads YAML files, and refuses keys that occur twice and values that would be read as another thing than they say."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from snakeproof.errors import InputError

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's if it is installed: ten times faster


DEEPEST = 100
"""Levels of lists and mappings in each other; libyaml ends the process at some ten thousands."""
MOST_VALUES = 1_000_000
"""Values of a file, each as often as aliases repeat it: nothing ends that goes through more of them."""
_AMBIGUOUS = re.compile(r"[-+]?0[0-9_]+|.*:.*")
"""Numbers that YAML 1.1 reads in base 8 or 60, and people and YAML 1.2 do not."""


class _StandsTwice(yaml.YAMLError):
    """A repeated key, with its lines."""


class _Misread(yaml.YAMLError):
    """Something that would be read as another thing than it says, or without end, with its key."""


class _Values:
    """Counts the values of a file, and refuses those that would be misread."""

    def __init__(self) -> None:
        self._found: dict[int, int | None] = {}  # id of a node -> its values; None while they are counted

    def count(self, node: yaml.Node, path: str = "") -> int:
        """The number of values in a node. Raises `_Misread` that names the key."""
        if id(node) not in self._found:
            self._found[id(node)] = None
            counts = (self.count(part, f"{path}.{name}") for name, part in self._parts(node, path))
            self._found[id(node)] = 1 + sum(counts)
        found = self._found[id(node)]
        if found is None:
            raise _Misread(f"{_key_path(path)}: an alias repeats what it is a part of; write the values out")
        if found > MOST_VALUES:
            raise _Misread(
                f"{_key_path(path)}: with its aliases this has more than {MOST_VALUES:,} values; write fewer"
            )
        return found

    def _parts(self, node: yaml.Node, path: str) -> list[tuple[str, yaml.Node]]:
        if isinstance(node, yaml.MappingNode):
            return [(_key_name(key, path), value) for key, value in node.value]
        if isinstance(node, yaml.SequenceNode):
            return [(str(number), value) for number, value in enumerate(node.value)]
        if _is_plain(node, "int", "float") and _AMBIGUOUS.fullmatch(node.value):
            value = yaml.safe_load(node.value)
            raise _Misread(
                f'{_key_path(path)}: YAML reads {node.value} as {value}; write {value}, or for text "{node.value}"'
            )
        return []


def _key_name(key: yaml.Node, path: str) -> str:
    """A key of a mapping. Raises `_Misread` for one that YAML does not read as text."""
    if _is_plain(key, "bool", "int", "float", "null", "timestamp"):
        value = yaml.safe_load(key.value)
        raise _Misread(
            f'{_key_path(f"{path}.{key.value}")}: YAML reads this key as {value}; write "{key.value}", in quotes'
        )
    return str(key.value)


def _is_plain(node: yaml.Node, *types: str) -> bool:
    """True for a scalar without quotes that YAML reads as one of these types."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.tag.rpartition(":")[2] in types


def _key_path(path: str) -> str:
    return path.removeprefix(".") or "(top)"


class _OneOfEachKey(LOADER):  # type: ignore[misc]
    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _Values().count(node)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, key) is not key:
                lines = f"in lines {first[key.value].start_mark.line + 1} and {key.start_mark.line + 1}"
                raise _StandsTwice(f"the key {key.value!r} occurs twice, {lines}")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(path: str | Path) -> Any:
    """The values of a YAML file.

    Raises `InputError` if it is not YAML, or for a key that occurs twice or would be read as another value.
    """
    return _load(_read_text(path), path)


def check_configfiles(paths: Iterable[str | Path]) -> None:
    """Raises `InputError` for a key that occurs twice in a file, YAML or JSON, that Snakemake reads by itself."""
    for path in paths:
        text = _read_text(path)
        if text.lstrip().startswith("{"):  # JSON may have tabs between its values, and unpaired surrogates in them
            text = re.sub(r"\\u(?=[0-9a-fA-F]{4})", "_u", text.replace("\t", " "))
        _load(text, path)


def _check_depth(text: str) -> None:
    """Raises `RecursionError` for values that are nested deeper than `DEEPEST`, which loading would follow."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise RecursionError


def _read_text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error}); save it in that encoding.") from error


def _load(text: str, path: str | Path) -> Any:
    try:
        if sum(map(text.count, "[{-?")) > DEEPEST:
            _check_depth(text)
        return yaml.load(text, Loader=_OneOfEachKey)
    except _StandsTwice as error:
        raise InputError(f"{path}: {error}, and only the last would count; join the two, or remove one.") from None
    except _Misread as error:
        raise InputError(f"{path}: {error}.") from None
    except (RecursionError, yaml.YAMLError) as error:
        # PyYAML has a limit of its own since 6.0.4.
        if isinstance(error, RecursionError) or "maximum nesting depth" in str(error):
            raise InputError(f"{path}: lists or mappings are nested too deep; write fewer levels.") from None
        mark = getattr(error, "problem_mark", None)
        if mark is not None and re.match(r"[ -]*\t", "".join(text.splitlines()[mark.line : mark.line + 1])):
            raise InputError(
                f"{path}: line {mark.line + 1} begins with a tab; write spaces, of which YAML's levels are made."
            ) from None
        raise InputError(f"{path}: not valid YAML: {error}") from error

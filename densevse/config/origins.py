"""Origins of the values in a file of config/methods or config/generators: paper, public code, chosen, ours.

A comment after a value gives its origin; after a key it holds for everything below that has no comment. `# paper, 3.4;
training: chosen` is such a comment with a part for the key `training`. Defaults are in densevse/methods/parameters,
where `ORIGINS` of a type gives their origins.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from densevse.config.strict import Strict

ORIGIN_WORDS = ("paper", "public code", "VSE++'s code", "chosen", "ours", "the data set")
"""A comment that is an origin begins with one of these."""

_MERGED = "tag:yaml.org,2002:merge"
_OF_KEY = re.compile(r"(\w+): (.+)")


class Stated(NamedTuple):
    """A value as a file states it, with its origin and line."""

    origin: str | None  # None without a comment
    line: int  # from 1


class CommentedFile:
    """A YAML file with its comments."""

    def __init__(self, path: str | Path) -> None:
        text = Path(path).read_text(encoding="utf-8")
        self._lines = text.splitlines()
        self._root = yaml.compose(text, Loader=yaml.SafeLoader)

    def find(self, keys: Sequence[str]) -> Stated | None:
        """The value under `keys`; None if the file does not state it."""
        chain, node = [], self._root
        for key in keys:
            found = _children(node).get(key)
            if found is None:
                return None
            chain.append(found[0].start_mark.line)
            node = found[1]
        return Stated(self._origin(chain, keys), chain[-1] + 1)

    def _origin(self, chain: Sequence[int], keys: Sequence[str]) -> str | None:
        """The origin in the comment nearest to a value: on its own line, or on that of a key above it."""
        for depth in range(len(chain) - 1, -1, -1):
            for name, origin in self._comment(chain[depth]):
                if name is None or name in keys[depth:]:
                    return origin
        return None

    def _comment(self, line: int) -> list[tuple[str | None, str]]:
        """The parts of a line's comment, those for a named key first."""
        comment = self._lines[line].partition(" # ")[2]
        parts = [_OF_KEY.fullmatch(part) or part for part in comment.split("; ") if part]
        named = [(part[1], part[2]) for part in parts if not isinstance(part, str)]
        return [*named, *((None, part) for part in parts if isinstance(part, str))]


def _children(node: yaml.Node | None) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """The node and the value's node of each key; a node's own keys override those merged in from elsewhere."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in node.value:
        if key.tag == _MERGED:
            found = {**_children(value), **found}
    return found | {key.value: (key, value) for key, value in node.value if key.tag != _MERGED}


def of_default(kind: type[Strict], field: str) -> str:
    """The origin of a parameter's default, from `ORIGINS` of its type."""
    origins: dict[str, str] = kind.ORIGINS  # type: ignore[attr-defined]
    return origins.get(field, origins["*"])

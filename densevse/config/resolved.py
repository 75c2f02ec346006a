"""The settings of a variant, each with its origin, from the files of config/ and those over them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from densevse.config.config import Config
from densevse.config.load import Kind, find_layers, generator, variant
from densevse.config.registries import VIEWS, feature_view
from densevse.config.values import DatasetName
from snakeproof.strict import Strict


class Override(NamedTuple):
    """A file whose values are merged over those of the folders of config/."""

    file: str
    values: dict[str, Any]


def holds(values: Any, keys: Sequence[str]) -> bool:
    """True if nested mappings hold a value under `keys`."""
    for key in keys:
        if not (isinstance(values, Mapping) and key in values):
            return False
        values = values[key]
    return True


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


def default_origin(kind: type[Strict], field: str) -> str:
    """The origin of a parameter's default, from `ORIGINS` of its type; a plug-in's type need not have any."""
    origins: dict[str, str] = getattr(kind, "ORIGINS", {})
    return origins.get(field, origins.get("*", DEFAULT))


DEFAULT = "default"


class Setting(NamedTuple):
    """A resolved value."""

    path: str
    value: Any
    origin: str
    place: str  # the file, with the line if known


def resolve_settings(
    name: str, dataset: DatasetName | None, config: Config, over: Sequence[Override], root: Path
) -> list[Setting]:
    """The settings of a variant, or of a generator, on a data set, without those that are off by default.

    `root` is the folder of the project. `over` is merged over its config/, later values over earlier ones.
    """
    kind: Kind = "methods" if name in config.variant_names() else "generators"
    entry = _entry(name, dataset, config)
    layers = find_layers(kind, name, config, dataset)
    finder = _OriginFinder(kind, entry, layers, over, root)
    used = {phase for names in entry.rounds or [list(entry.phases)] for phase in names} if kind == "methods" else None
    rows = [
        Setting(".".join(keys), value, *finder.origin(keys))
        for keys, value in _leaves(entry.model_dump())
        if not (keys[0] == "phases" and len(keys) > 1 and used is not None and keys[1] not in used)
    ]
    rows = [row for row in rows if row.origin != DEFAULT or row.value not in (None, [], {})]
    return [*rows, *(_networks(entry, dataset, config, over) if dataset and kind == "methods" else [])]


def differences_from_code(name: str, dataset: DatasetName | None, config: Config) -> Sequence[str]:
    """Lists how a variant or a generator differs from the authors' code beside its settings; empty if not known.

    `DIFFERS` of the type of its parameters lists it.
    """
    differences: Sequence[str] = getattr(type(_entry(name, dataset, config).parameters), "DIFFERS", ())
    return differences


def _entry(name: str, dataset: DatasetName | None, config: Config) -> Any:
    return (variant if name in config.variant_names() else generator)(config, dataset, name)


class _OriginFinder:
    """Finds the origins of the settings of an entry."""

    def __init__(
        self, kind: str, entry: Any, layers: Sequence[tuple[str, Any]], over: Sequence[Override], root: Path
    ) -> None:
        self._entry, self._layers, self._over = entry, layers[::-1], over[::-1]
        self._file = f"config/{kind}/{layers[0][0].split('.')[1]}.yaml"
        self._stated = CommentedFile(root / self._file) if (root / self._file).is_file() else None

    def origin(self, keys: Sequence[str]) -> tuple[str, str]:
        """The origin of a setting, and its place."""
        for where, values in self._layers:
            if holds(values, keys):
                return self._find_in_file(where.split("."), keys)
        return self._find_default(keys)

    def _find_default(self, keys: Sequence[str]) -> tuple[str, str]:
        declared, value = self._entry, self._entry
        for key in keys[:-1]:
            value = value[key] if isinstance(value, Mapping) else getattr(value, key)
            declared = declared if isinstance(value, Mapping) else value
        place = f"{type(declared).__module__.replace('.', '/')}.py"
        return default_origin(type(declared), keys[-1]) if keys[0] == "parameters" else DEFAULT, place

    def _find_in_file(self, where: Sequence[str], keys: Sequence[str]) -> tuple[str, str]:
        for one in self._over:
            if holds(one.values, [*where, *keys]):
                return "yours", one.file
        stated = self._stated.find([*where[2:], *keys]) if self._stated else None
        if stated is None:  # neither in the file nor in one over it
            raise LookupError(f"{'.'.join([*where, *keys])} is in no file")
        origin = stated.origin or ("the variant" if "variants" in where else "the method")
        origin += f", for {where[-1]}" if where[-2] == "datasets" else ""
        return origin, f"{self._file}:{stated.line}"


def _networks(entry: Any, dataset: str, config: Any, over: Sequence[Override]) -> Iterator[Setting]:
    """The networks of the data set for the variant's views, unless the variant names others."""
    for view in entry.views:
        seen = feature_view(view)
        if VIEWS[view].made_by == "generator" or seen in entry.networks:
            continue
        naming = [one.file for one in over if holds(one.values, ["datasets", dataset, "networks", seen])]
        place = naming[-1] if naming else f"config/datasets/{dataset}.yaml"
        yield Setting(f"networks.{seen}", config.datasets[dataset].networks.get(seen), "the data set", place)


def _leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of nested mappings, each with its keys."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value

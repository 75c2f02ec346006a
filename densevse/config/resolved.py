"""The settings of a variant, each with its origin, from the files of config/ and those over them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from densevse.config.config import Config
from densevse.config.load import Kind, generator, layers_of, variant
from densevse.config.origins import CommentedFile, of_default
from densevse.config.overrides import Override, holds
from densevse.config.views import VIEWS, described_by

DEFAULT = "default"


class Setting(NamedTuple):
    """A resolved value."""

    path: str
    value: Any
    origin: str
    place: str  # the file, with the line if known


def settings_of(name: str, dataset: str | None, config: Config, over: Sequence[Override], root: Path) -> list[Setting]:
    """The settings of a variant, or of a generator, on a data set, without those that are off by default.

    `root` is the folder of the project. `over` is merged over its config/, later values over earlier ones.
    """
    kind: Kind = "methods" if name in config.variant_names() else "generators"
    entry: Any = variant(config, name, dataset) if kind == "methods" else generator(config, name, dataset)
    layers = layers_of(kind, name, config, dataset)
    finder = _Finder(kind, entry, layers, over, root)
    used = {phase for names in entry.rounds or [list(entry.phases)] for phase in names} if kind == "methods" else None
    rows = [
        Setting(".".join(keys), value, *finder.origin(keys))
        for keys, value in _leaves(entry.model_dump())
        if not (keys[0] == "phases" and len(keys) > 1 and used is not None and keys[1] not in used)
    ]
    rows = [row for row in rows if row.origin != DEFAULT or row.value not in (None, [], {})]
    return [*rows, *(_networks(entry, dataset, config, over) if dataset and kind == "methods" else [])]


class _Finder:
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
                return self._of_layer(where.split("."), keys)
        return self._of_default(keys)

    def _of_default(self, keys: Sequence[str]) -> tuple[str, str]:
        declared, value = self._entry, self._entry
        for key in keys[:-1]:
            value = value[key] if isinstance(value, Mapping) else getattr(value, key)
            declared = declared if isinstance(value, Mapping) else value
        place = f"{type(declared).__module__.replace('.', '/')}.py"
        return of_default(type(declared), keys[-1]) if keys[0] == "parameters" else DEFAULT, place

    def _of_layer(self, where: Sequence[str], keys: Sequence[str]) -> tuple[str, str]:
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
        seen = described_by(view)
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

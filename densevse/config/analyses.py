"""Settings of analyses: each analysis declares its own, in densevse/analyses/<name>/settings.py.

That module has one subclass of `AnalysisSettings`, the type of the top-level key `<name>` of the configuration. Beside
it, settings.yaml holds the project's settings, or a folder entries/ has a file for each entry. This module finds the
declarations by the names of the analyses' folders, so an analysis can be added or deleted without other edits.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar, cast

from pydantic import ConfigDict, RootModel

from densevse.config.sources import own_paths
from densevse.config.values import DatasetName
from densevse.runtime.project import PACKAGE
from snakeproof.strict import FileName, Strict, check_known_names

FOLDER = PACKAGE / "analyses"
_Entry = TypeVar("_Entry", bound=Strict)


class AnalysisSettings:
    """The base of the settings of every analysis. `config` is a `Config`, whose module imports this one."""

    FOLDERS: ClassVar[frozenset[str]] = frozenset()
    """Folders of the analysis's own below results/, whose names no data set may have."""

    def check(self, config: Any) -> None:
        """Raises `ValueError`, with the path of the key first, for a name that the configuration lacks."""

    def paths(self) -> Iterator[tuple[str, str]]:
        """The user's files and folders in the settings, each with the path of its key."""
        yield from own_paths(self, settings_key(type(self)))

    def datasets(self, config: Any) -> Mapping[DatasetName, Any]:
        """The data sets of the analysis's own, by their names below results/; the stages treat them like all others."""
        return {}


class Entries(RootModel[dict[FileName, _Entry]], AnalysisSettings, Generic[_Entry]):
    """Settings that are entries by name, such as searches."""

    model_config = ConfigDict(frozen=True)

    def items(self) -> Iterator[tuple[str, _Entry]]:
        """The names and the entries."""
        yield from self.root.items()


class ByDataset(Entries[_Entry]):
    """Settings that are entries by data set; a data set without an entry has the defaults."""

    def items(self) -> Iterator[tuple[DatasetName, _Entry]]:
        """The data sets and their entries."""
        yield from ((DatasetName(name), entry) for name, entry in self.root.items())

    def dataset_entry(self, dataset: DatasetName) -> _Entry:
        """The settings for a data set."""
        return self.root[dataset] if dataset in self.root else cast(_Entry, entry_type(type(self)).model_validate({}))

    def check(self, config: Any) -> None:
        """Raises `ValueError` for an entry of an unknown data set."""
        for dataset in self.root:
            check_known_names(f"{settings_key(type(self))}.{dataset}", [dataset], config.datasets)


def entry_type(kind: type[AnalysisSettings]) -> type[Strict]:
    """The type of the entries of a subclass of `Entries`."""
    found: type[Strict] = kind.model_fields["root"].annotation.__args__[1]  # type: ignore[attr-defined]
    return found


def settings_key(kind: type[AnalysisSettings]) -> str:
    """The top-level key of an analysis's settings: the name of its folder."""
    return kind.__module__.split(".")[-2]


@cache
def settings_of_analyses() -> dict[str, type[AnalysisSettings]]:
    """The class of settings of each analysis that has settings."""
    names = sorted(file.parent.name for file in FOLDER.glob("*/settings.py"))
    return {name: _settings_class(import_module(f"densevse.analyses.{name}.settings")) for name in names}


def _settings_class(module: ModuleType) -> type[AnalysisSettings]:
    """The one subclass of `AnalysisSettings` that a module defines; pydantic adds others that it is built from."""
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, AnalysisSettings)]
    (found,) = (kind for kind in kinds if kind.__module__ == module.__name__ and not kind.__subclasses__())
    return found

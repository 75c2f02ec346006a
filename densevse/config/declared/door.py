"""A folder of declarations: modules that are found by name and state what the plan must know."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field

from densevse.config.strict import or_meant

Declaration = TypeVar("Declaration")


class Door(Mapping[str, Declaration], Generic[Declaration]):
    """The declarations of a kind, by name: `DECLARED` of densevse/config/declared/<folder>/<name>.py.

    A module is imported when its declaration is needed, and imports neither torch nor OpenCV. `others` are names
    without a module, which share one declaration.
    """

    def __init__(self, folder: str, kind: str, others: Mapping[str, Declaration] | None = None) -> None:
        self.kind, self._package, self._others = kind, f"{__package__}.{folder}", others or {}
        files = Path(__file__).with_name(folder).glob("*.py")
        self.named = sorted(file.stem for file in files if file.stem != "__init__")
        self._declared = cache(self._imported)  # thousands of entries are checked for a plan

    def __getitem__(self, name: str) -> Declaration:
        if name in self._others:
            return self._others[name]
        if name not in self.named:
            raise KeyError(name)
        return self._declared(name)

    def _imported(self, name: str) -> Declaration:
        declared: Declaration = import_module(f"{self._package}.{name}").DECLARED
        return declared

    def __iter__(self) -> Iterator[str]:
        return iter((*self.named, *self._others))

    def __len__(self) -> int:
        return len(self.named) + len(self._others)

    def module(self, name: str) -> str:
        """The dotted name of a declaration's module."""
        return f"{self._package}.{name}"

    def check(self, name: str) -> str:
        """Returns the name. Raises `ValueError` that lists the known names and suggests the most similar one."""
        if name not in self:
            more = f" and {len(self._others)} others" if self._others else ""
            raise ValueError(f"no {self.kind} {name!r}; known: {', '.join(self.named)}{more}{or_meant(name, self)}")
        return name

    @property
    def enum(self) -> Any:
        """The names, for editors; with `check` it turns a text into a name of the configuration."""
        return Field(json_schema_extra={"enum": list(self)})

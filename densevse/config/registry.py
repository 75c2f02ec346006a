"""Registries: the names of each kind that the configuration may use, each with the facts that the plan needs."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from pydantic import Field

from densevse.config.strict import or_meant

Registered = TypeVar("Registered")


class Registry(Mapping[str, Registered], Generic[Registered]):
    """The entries of one kind by name: those of a table, and those that modules define.

    `others` are further entries, which messages count and do not name.
    """

    def __init__(
        self,
        kind: str,
        table: Mapping[str, Registered] | None = None,
        others: Mapping[str, Registered] | None = None,
    ) -> None:
        self.kind, self._others = kind, others or {}
        self._entries = {**(table or {}), **self._others}
        self._modules: dict[str, tuple[str, str]] = {}

    def add(self, package: str, attribute: str = "DECLARED") -> None:
        """Adds an entry for each module of a package, by the module's name: the module's `attribute`.

        A module is imported when its entry is first looked up; one whose name begins with _ is no entry. Raises
        `ValueError` for a name that is taken.
        """
        modules = [module.name for module in iter_modules(import_module(package).__path__) if not module.ispkg]
        for name in (name for name in modules if not name.startswith("_")):
            if name in self._entries or name in self._modules:
                raise ValueError(f"{package}.{name}: there is a {self.kind} {name!r} already; rename the module")
            self._modules[name] = f"{package}.{name}", attribute

    def __getitem__(self, name: str) -> Registered:
        if name not in self._entries:
            module, attribute = self._modules[name]
            self._entries[name] = getattr(import_module(module), attribute)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.named, *self._others))

    def __len__(self) -> int:
        return len(self._entries.keys() | self._modules.keys())

    @property
    def named(self) -> list[str]:
        """The names that messages list, sorted."""
        return sorted((self._entries.keys() | self._modules.keys()) - self._others.keys())

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

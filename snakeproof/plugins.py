"""Plug-ins: what installed packages declare for a workflow, as entry points of groups.

    [project.entry-points."densevse.methods"]
    my_scan = "my_package.declared:Parameters"

An entry point names the declaration, in a module that imports no large library, as the plan imports it. The declaration
names the module of the implementation, which only jobs import. Both are in one package.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from snakeproof.errors import InputError


class Plugin(NamedTuple):
    """One entry point of an installed package."""

    entry: EntryPoint

    @property
    def name(self) -> str:
        """The name by which the configuration calls it."""
        return self.entry.name

    @property
    def package(self) -> str:
        """The name of the package that is imported; all its modules may be part of the implementation."""
        return self.entry.value.partition(":")[0].split(".")[0].strip()

    def __str__(self) -> str:
        """The installed package as errors name it."""
        installed = self.entry.dist
        named = f"{installed.name} {installed.version}" if installed else self.package
        return f"the package {named} ({self.entry.group}: {self.name} = {self.entry.value})"

    def load(self) -> Any:
        """Imports the declaration. Raises `InputError` that names the package if that fails."""
        if not self.package:
            raise InputError(f"{self} names no module. Correct the package, or uninstall it.")
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:  # whatever the package's own code raises
            raise InputError(
                f"{self} cannot be imported: {type(error).__name__}: {error}. Correct the package, or uninstall it."
            ) from error

    def places(self) -> Iterator[Path]:
        """The folders of the package, or its file if it is one module; none if it cannot be found."""
        found = find_spec(self.package)
        if found is None:
            return
        if found.submodule_search_locations is None:
            yield Path(str(found.origin))
        else:
            yield from map(Path, found.submodule_search_locations)


def plugins(*groups: str) -> list[Plugin]:
    """The plug-ins of some groups, in the order of their names."""
    return sorted(Plugin(entry) for group in groups for entry in _read_entry_points().select(group=group))


@cache
def _read_entry_points() -> Any:
    """All entry points of the environment, of which each version of Python has a type of its own to select from.

    Finding them reads a file of each package, so it is done once.
    """
    try:
        return entry_points()
    except Exception:  # for a line without a value
        for installed in distributions():
            try:
                _ = installed.entry_points
            except Exception as error:
                raise InputError(
                    f"the package {installed.name} {installed.version}: its entry points cannot be read ({error}). "
                    "Correct the package, or uninstall it."
                ) from error
        raise

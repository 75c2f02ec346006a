"""`densevse list`: prints everything in the configuration that has a name."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from densevse.command.shared import (
    ROOT,
    add_configfiles,
    align_columns,
    check_name,
    configuration,
    overrides,
)
from densevse.runtime.project import PACKAGE

if TYPE_CHECKING:
    from densevse.config.resolved import Override

HELP = "print all names: methods with their variants, tables, data sets, networks, searches and others"


class Listed(NamedTuple):
    """A name in the configuration."""

    name: str
    line: str  # the title, or the first line of its file's comment
    file: str  # the file or key that configures it


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the kinds."""
    parser.add_argument(
        "kinds", nargs="*", metavar="kind", help="kinds, such as methods or tables; by default an overview of all"
    )
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Prints a heading for each kind and a line for each name; without kinds, a line for each kind."""
    over = overrides(arguments.configfile)
    config = configuration(over)
    known = kinds(config)
    for kind in arguments.kinds:
        check_name("kind", kind, known)
    names = {kind: sorted(list_names(kind, config, over)) for kind in arguments.kinds or known}
    if not arguments.kinds:
        print(align_columns(((kind, f"({len(rows)})", _join_names(rows)) for kind, rows in names.items()), cut=2))
        print("\n`densevse list <kind>...` prints the names of a kind, each with its title and its file.")
        return 0
    print("\n\n".join(f"{kind} ({len(rows)})\n{align_columns(rows, cut=1, indent=2)}" for kind, rows in names.items()))
    if Path.cwd() != ROOT:
        print(f"\nThe project's files are in {ROOT}.")
    return 0


def _join_names(rows: Sequence["Listed"]) -> str:
    """The names, each once."""
    return ", ".join(dict.fromkeys(row.name for row in rows))


def kinds(config: Any) -> list[str]:
    """The keys of the configuration that hold entries by name, without analyses' settings of data sets."""
    from densevse.config.analyses import ByDataset, Entries
    from densevse.config.load import FOLDERS

    of_analyses = [name for name, value in config if isinstance(value, Entries) and not isinstance(value, ByDataset)]
    return [*FOLDERS, *of_analyses]


def list_names(kind: str, config: Any, over: Sequence["Override"]) -> Iterator[Listed]:
    """The names of a kind; for methods and generators also variants and ensembles, for papers their claims."""
    for name, entry in getattr(config, kind).items():
        line = getattr(entry, "title", None) or "".join(map(_comment, _files(kind, name)))
        yield Listed(name, line, _defining_files(over, kind, name))
        for key in ("variants", "ensembles", "claims"):
            for variant, differences in getattr(entry, key, {}).items():
                yield Listed(variant, differences.title or "", _defining_files(over, kind, name, key, variant))


def _defining_files(over: Sequence["Override"], kind: str, name: str, *keys: str) -> str:
    """The file of an entry and the user's files that name it, or the value in it under `keys`."""
    from densevse.config.resolved import holds

    return ", ".join(
        [
            *map(_relative_path, _files(kind, name)),
            *(one.file for one in over if holds(one.values, [kind, name, *keys])),
        ]
    )


def _files(kind: str, name: str) -> list[Path]:
    """The project's file of an entry; empty if the user's files alone have it."""
    places = (
        ROOT / f"config/{kind}/{name}.yaml",
        PACKAGE / f"analyses/{kind}/entries/{name}.yaml",
        PACKAGE / f"analyses/{kind}/settings.yaml",
    )
    return [file for file in places if file.is_file()][:1]


def _relative_path(file: Path) -> str:
    return str(file.relative_to(PACKAGE.parent if PACKAGE in file.parents else ROOT))


def _comment(file: Path) -> str:
    """The first sentence of the comment at the start of a file; empty if there is none."""
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    first, found, _ = " ".join(lines).partition(". ")
    return first + "." * bool(found)

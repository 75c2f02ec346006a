"""The project that the command works on: its code and config/, with the user's files over the configuration."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from densevse.config.overrides import Override
from densevse.runtime.errors import InputError
from densevse.runtime.place import project_root

ROOT = project_root()
"""The folder of the Snakefile, config/ and workflow/."""


def add_configfiles(parser: ArgumentParser) -> None:
    """Adds the option for files that change the configuration, as Snakemake has it."""
    parser.add_argument(
        "--configfile", nargs="+", default=[], metavar="FILE", help="your own files over the configuration"
    )


def overrides(files: Sequence[str]) -> list[Override]:
    """The contents of config/config.yaml and then of `files`; later ones override earlier ones.

    Raises `InputError` that names a missing file, or one that holds no mapping.
    """
    from densevse.config.strict_yaml import read_yaml

    found = []
    for file in (str(ROOT / "config/config.yaml"), *files):
        if not Path(file).is_file():
            raise InputError(f"--configfile: {file} is not there; correct the path.")
        values = read_yaml(file) or {}
        if not isinstance(values, dict):
            raise InputError(f"--configfile: {file} holds no keys; see config/README.md for what it may hold.")
        found.append(Override(file, values))
    return found


def configuration(over: Sequence[Override]) -> Any:
    """The validated configuration (`Config`). Raises `InputError` that names the mistakes in it."""
    from densevse.config.load import load

    return load(ROOT / "config", merged(over))


def merged(over: Sequence[Override]) -> dict[str, Any]:
    """The merged values of several files; later ones override earlier ones."""
    from functools import reduce

    from densevse.config.load import merge

    values: dict[str, Any] = reduce(merge, (one.values for one in over), {})
    return values


def check_name(kind: str, name: str, known: Sequence[str]) -> None:
    """Raises `InputError` for an unknown name, and suggests the most similar one."""
    from densevse.config.strict import or_meant

    if name not in known:
        raise InputError(f"no {kind} {name!r}; `densevse list` prints the known ones{or_meant(name, known)}")

"""The command's entry: finds the requested subcommand and runs it."""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from densevse.runtime.project import PACKAGE, installed_copy
from snakeproof.errors import InputError

FAILED, NOT_UNDERSTOOD = 1, 2
_OWN = "densevse.command.subcommands"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command with `argv` (by default the process's), and returns its exit status.

    Raises `SystemExit` for --help, and with status 2 for invalid arguments.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if warning := installed_copy(Path.cwd()):
        print(warning, file=sys.stderr)
    if not given or given[0].startswith("-"):
        overview = _overview()
        overview.parse_args(given)
        overview.print_help(sys.stderr)
        return NOT_UNDERSTOOD
    name, module = given[0], _subcommand(given[0])
    parser = ArgumentParser(f"densevse {name}", description=module.HELP, allow_abbrev=False)
    module.add_arguments(parser)
    try:
        return _run(name, module, _parse_arguments(parser, module, given[1:]))
    except InputError as error:
        print(f"densevse {name}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(name: str, module: ModuleType, arguments: Namespace) -> int:
    """Runs a subcommand. Raises `InputError` that names the extra if the packages of the workflow are missing."""
    try:
        return int(module.run(arguments))
    except ModuleNotFoundError:
        from densevse.config.environment import check_extra

        check_extra("snakemake", "workflow", "the workflow")
        raise


def subcommands() -> dict[str, str]:
    """The module of each subcommand, in alphabetical order of their names."""
    files = [file.stem for file in PACKAGE.glob("command/subcommands/*.py") if file.stem != "__init__"]
    own = {name.removesuffix("_"): f"{_OWN}.{name}" for name in files}
    folders = [file.parent.name for file in PACKAGE.glob("analyses/*/subcommand.py")]
    modules = [f"densevse.analyses.{folder}.subcommand" for folder in folders]
    return dict(sorted({**own, **{import_module(module).NAME: module for module in modules}}.items()))


def _overview() -> ArgumentParser:
    """The parser of a command line without a subcommand; its help describes all of them."""
    lines = [f"  {name:<9} {import_module(module).HELP}" for name, module in subcommands().items()]
    return ArgumentParser(
        "densevse",
        usage="densevse <subcommand> ...",
        description="\n".join(["Five papers on matching images with sentences.", "", "subcommands:", *lines]),
        epilog="densevse <subcommand> --help describes one.",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _subcommand(name: str) -> ModuleType:
    """The module of a subcommand. Exits with status 2 for an unknown name, and suggests the most similar one."""
    known = subcommands()
    if name not in known:
        from snakeproof.strict import suggest_name  # takes a while to import

        _overview().error(f"no subcommand {name!r}; known: {', '.join(known)}{suggest_name(name, known)}")
    return import_module(known[name])


CONFIGFILE, CONFIGURES = "--configfile", (".yaml", ".yml", ".json")
"""The option for files of the user's, and the endings of these: what else follows the first file is no file."""


def _join_values(given: Sequence[str]) -> list[str]:
    """Joins `--unscored -inf` to `--unscored=-inf`: argparse takes a value that begins with a dash for an option."""
    joined: list[str] = []
    for one in given:
        if one == "-inf" and joined:
            joined[-1] += f"={one}"
        else:
            joined.append(one)
    return joined


def _parse_arguments(parser: ArgumentParser, module: ModuleType, given: Sequence[str]) -> Namespace:
    """The arguments of a subcommand, with those after a lone `--` as `passed_on`."""
    passes_on = getattr(module, "PASSES_ON", False)
    end = given.index("--") if "--" in given else len(given)
    own, passed_on = _move_targets(given[:end]), list(given[end + 1 :])
    if passed_on and not passes_on:
        parser.error(
            f"this subcommand passes nothing on to another program: remove the arguments after --, {passed_on[0]!r}"
        )
    arguments, unknown = parser.parse_known_intermixed_args(_join_values(own))
    if unknown:
        hint = f"; options of Snakemake go to the end, after a lone --: -- {' '.join(unknown)}" if passes_on else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    arguments.passed_on = passed_on
    return arguments


def _move_targets(given: Sequence[str]) -> list[str]:
    """Moves the targets that follow the files of --configfile to the front of the arguments."""
    targets: list[str] = []
    others: list[str] = []
    option = ""
    for before, argument in zip(["", *given], given, strict=False):
        option = argument if argument.startswith("-") else option
        may_be_file = argument == option or before == CONFIGFILE or argument.endswith(CONFIGURES)
        (others if option != CONFIGFILE or may_be_file else targets).append(argument)
    return [*targets, *others]

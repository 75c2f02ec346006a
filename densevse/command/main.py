"""The command's entry: finds the requested subcommand and runs it."""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from densevse.runtime.errors import InputError

FAILED, NOT_UNDERSTOOD = 1, 2
_FOLDER = Path(__file__).with_name("subcommands")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command with `argv` (by default the process's), and returns its exit status.

    Raises `SystemExit` for --help, and with status 2 for invalid arguments.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0].startswith("-"):
        overview = _overview()
        overview.parse_args(given)
        overview.print_help(sys.stderr)
        return NOT_UNDERSTOOD
    name, module = given[0], _subcommand(given[0])
    parser = ArgumentParser(f"densevse {name}", description=module.HELP, allow_abbrev=False)
    module.add_arguments(parser)
    try:
        return int(module.run(_read(parser, module, given[1:])))
    except InputError as error:
        print(f"densevse {name}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def subcommands() -> dict[str, str]:
    """The name of the module of each subcommand, in alphabetical order."""
    modules = sorted(file.stem for file in _FOLDER.glob("*.py") if file.stem != "__init__")
    return {module.removesuffix("_"): module for module in modules}


def _overview() -> ArgumentParser:
    """The parser of a command line without a subcommand; its help describes all of them."""
    lines = [f"  {name:<9} {_imported(module).HELP}" for name, module in subcommands().items()]
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
        from densevse.config.strict import or_meant  # takes a while to import

        _overview().error(f"no subcommand {name!r}; known: {', '.join(known)}{or_meant(name, known)}")
    return _imported(known[name])


def _imported(module: str) -> ModuleType:
    return import_module(f"densevse.command.subcommands.{module}")


def _read(parser: ArgumentParser, module: ModuleType, given: Sequence[str]) -> Namespace:
    """The arguments of a subcommand, with those after a lone `--` as `passed_on`."""
    end = given.index("--") if "--" in given else len(given)
    own, passed_on = given[:end], list(given[end + 1 :])
    if passed_on and not getattr(module, "PASSES_ON", False):
        parser.error(
            f"this subcommand passes nothing on to another program: remove the arguments after --, {passed_on[0]!r}"
        )
    arguments = parser.parse_intermixed_args(own)
    arguments.passed_on = passed_on
    return arguments

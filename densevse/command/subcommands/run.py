"""`densevse run`: runs Snakemake with the project's Snakefile."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace

from densevse.command.shared import (
    add_configfiles,
    checked_project,
    environment_with_loggers,
    snakemake_command,
)
from snakeproof.run_lock import UNLOCK

HELP = "make targets: Snakemake with the project's Snakefile, in this folder"
PASSES_ON = True


def add_arguments(parser: ArgumentParser) -> None:
    """Adds targets, and the options that Snakemake requires."""
    parser.add_argument("targets", nargs="*", metavar="target", help="files or rules; by default the demo (`all`)")
    parser.add_argument("--cores", default="all", help="cores of this machine to use; all by default")
    add_configfiles(parser)
    parser.add_argument("--verbose", action="store_true", help="print all that Snakemake says, and not a line a job")
    parser.epilog = "Arguments after a lone -- are passed to Snakemake, such as -- --dry-run."


def run(arguments: Namespace) -> int:
    """Replaces this process by Snakemake, so that interruption works as usual.

    Raises `InputError` for a mistake in the configuration or in the name of a table.
    """
    if not any(one.startswith("--configfile") for one in arguments.passed_on):
        checked_project(arguments.targets, arguments.configfile)
    quiet = [] if arguments.verbose else ["--logger", "quiet"]
    options = ["--cores", arguments.cores, *quiet, *arguments.passed_on]
    command = snakemake_command(arguments.targets, arguments.configfile, *options)
    typed = sys.argv[1:] if arguments.passed_on else [*sys.argv[1:], "--"]
    unlock = {UNLOCK: shlex.join(["densevse", *typed, "--unlock"])}
    sys.stdout.flush()
    os.execve(command[0], command, environment_with_loggers() | unlock)

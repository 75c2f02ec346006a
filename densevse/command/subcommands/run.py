"""`densevse run`: runs Snakemake with the project's Snakefile."""

import os
import sys
from argparse import ArgumentParser, Namespace

from densevse.command.shared import add_configfiles, overrides, snakemake_command

HELP = "make targets: Snakemake with the project's Snakefile, in this folder"
PASSES_ON = True


def add_arguments(parser: ArgumentParser) -> None:
    """Adds targets, and the options that Snakemake requires."""
    parser.add_argument("targets", nargs="*", metavar="target", help="files or rules; by default the demo (`all`)")
    parser.add_argument("--cores", default="all", help="cores of this machine to use; all by default")
    add_configfiles(parser)
    parser.epilog = "Arguments after a lone -- are passed to Snakemake, such as -- --dry-run."


def run(arguments: Namespace) -> int:
    """Replaces this process by Snakemake, so that interruption works as usual."""
    overrides(arguments.configfile)
    options = ["--cores", arguments.cores, *arguments.passed_on]
    command = snakemake_command(arguments.targets, arguments.configfile, *options)
    sys.stdout.flush()
    os.execv(command[0], command)

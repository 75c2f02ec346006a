"""`densevse run`: Snakemake, with the project's Snakefile."""

import os
import sys
from argparse import ArgumentParser, Namespace

from densevse.command.project import add_configfiles, overrides
from densevse.command.workflow import snakemake

HELP = "make targets: Snakemake with the project's Snakefile, in this folder"
PASSES_ON = True


def add_arguments(parser: ArgumentParser) -> None:
    """Targets, and the options that Snakemake cannot do without."""
    parser.add_argument("targets", nargs="*", metavar="target", help="files or rules; by default the demo (`all`)")
    parser.add_argument("--cores", default="all", help="of this machine; all by default")
    add_configfiles(parser)
    parser.epilog = "What stands after a lone -- are further options of Snakemake's, such as -- --dry-run."


def run(arguments: Namespace) -> int:
    """Become Snakemake, so that it is interrupted as it always is."""
    overrides(arguments.configfile)
    options = ["--cores", arguments.cores, *arguments.passed_on]
    command = snakemake(arguments.targets, arguments.configfile, *options)
    sys.stdout.flush()
    os.execv(command[0], command)

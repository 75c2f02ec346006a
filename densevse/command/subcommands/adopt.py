"""`densevse adopt`: accepts files of other code or of an earlier version, after a comparison with today's plan."""

import os
import subprocess
from argparse import ArgumentParser, Namespace

from densevse.command.shared import add_configfiles, overrides, reason, snakemake_command
from snakeproof.errors import InputError
from snakeproof.options import ADOPTS

HELP = "accept files of other code or of an earlier version, if they agree with today's settings and inputs"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the targets."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="target",
        help="files or rules, whose files and inputs are compared; by default all files of an earlier version or "
        "without a record",
    )
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Lets Snakemake plan, and adopts files in the place of a run."""
    from snakeproof.adoption import REFUSED

    overrides(arguments.configfile)
    options = ("--touch", "--forceall", "--nolock", "--quiet", "all", "--cores", "1")
    command = snakemake_command(arguments.targets or ["adopt"], arguments.configfile, *options)
    done = subprocess.run(command, env={**os.environ, ADOPTS: "1"}, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, REFUSED):
        raise InputError(reason(done.stderr))
    return int(done.returncode == REFUSED)

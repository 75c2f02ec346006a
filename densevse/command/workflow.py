"""The workflow as the command runs it: its configured project, and Snakemake with the same files over it."""

import subprocess
import sys
from collections.abc import Sequence
from functools import reduce

from densevse.command.project import ROOT, overrides
from densevse.config.load import merge
from densevse.dag.project import Project


def configured_project(configfiles: Sequence[str]) -> Project:
    """The project with the user's files over its configuration. Raises `InputError` that names what is wrong there."""
    return Project(ROOT, reduce(merge, (one.values for one in overrides(configfiles)), {}))


def run_workflow(targets: Sequence[str], configfiles: Sequence[str], options: Sequence[str]) -> int:
    """Let Snakemake make `targets` with the user's files and further `options`, on all cores unless they say how many.

    Returns its exit status.
    """
    cores = [] if any(option.startswith(("--cores", "-c")) for option in options) else ["--cores", "all"]
    over = ["--configfile", *configfiles] if configfiles else []
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return subprocess.call([*command, *cores, *over, *options, "--", *targets])

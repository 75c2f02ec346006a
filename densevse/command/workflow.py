"""Starts Snakemake with the project's Snakefile."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from densevse.command.project import ROOT
from densevse.runtime.errors import InputError

LOGGERS = ROOT / "workflow/loggers"
_ERROR = re.compile(r"InputError: (.*?)(?=\n(?:Wildcards:|Traceback:|  File )|\Z)", re.DOTALL)


class PlannedJob(NamedTuple):
    """A job that a run would start."""

    rule: str
    wildcards: dict[str, str]
    output: list[str]
    log: list[str]

    @property
    def stage(self) -> str:
        """The folder of the job's log; a rule that uses another one shares its folder."""
        parts = Path(self.log[0]).parts if self.log else ()
        return parts[parts.index("logs") + 1].removesuffix(".log") if "logs" in parts else self.rule


def snakemake(targets: Sequence[str], configfiles: Sequence[str], *options: str) -> list[str]:
    """The command line that starts Snakemake in this folder."""
    configured = ["--configfile", *configfiles] if configfiles else []
    started = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return [*started, *configured, *options, "--", *targets]


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str]) -> list[PlannedJob]:
    """The jobs that a run would start. Raises `InputError` with Snakemake's objections to the targets."""
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(LOGGERS), *([known] if known else [])])}
    command = snakemake(targets, configfiles, "--dry-run", "--logger", "densevse")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise InputError(_reason(done.stderr))
    jobs = map(json.loads, filter(None, done.stdout.splitlines()))
    return [PlannedJob(job["rule_name"], job["wildcards"], job["output"], job["log"]) for job in jobs]


def _reason(errors: str) -> str:
    """The message of an `InputError`; for other errors, all that Snakemake printed."""
    found = _ERROR.search(errors)
    return found[1].strip() if found else errors.strip()

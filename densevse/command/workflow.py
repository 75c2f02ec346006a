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
_UNKNOWN = re.compile(r"MissingRuleException:\s+No rule to produce (.*?) \(if you use input functions")


class PlannedJob(NamedTuple):
    """A job that a run would start."""

    rule: str
    wildcards: dict[str, str]
    output: list[str]
    stage: str


def snakemake(targets: Sequence[str], configfiles: Sequence[str], *options: str) -> list[str]:
    """The command line that starts Snakemake in this folder. Raises `InputError` for an empty target."""
    if not all(target.strip() for target in targets):
        raise InputError("A target is empty; name a file or a rule. Is a variable of your shell not set?")
    configured = ["--configfile", *configfiles] if configfiles else []
    started = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return [*started, *configured, *options, "--", *targets]


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str], results: str) -> list[PlannedJob]:
    """The jobs that a run would start; `results` is the configured folder.

    Raises `InputError` with Snakemake's objections to the targets.
    """
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(LOGGERS), *([known] if known else [])])}
    command = snakemake(targets, configfiles, "--dry-run", "--logger", "densevse")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise InputError(_reason(done.stderr))
    jobs = map(json.loads, filter(None, done.stdout.splitlines()))
    return [
        PlannedJob(job["rule_name"], job["wildcards"], job["output"], stage_of(job["rule_name"], job["log"], results))
        for job in jobs
    ]


def stage_of(rule: str, logs: Sequence[str], results: str) -> str:
    """The folder of a job's log below <results>/logs; a rule that uses another one shares its folder."""
    return Path(logs[0]).relative_to(Path(results, "logs")).parts[0].removesuffix(".log") if logs else rule


def _reason(errors: str) -> str:
    """The message of an `InputError`, or of a target that no rule makes; else all that Snakemake printed."""
    found, unknown = _ERROR.search(errors), _UNKNOWN.search(errors)
    if found:
        return found[1].strip()
    if unknown:
        from densevse.dag.targets import unmade

        return unmade(unknown[1])
    return errors.strip()

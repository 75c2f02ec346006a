"""Common parts of subcommands: the project with the user's files over its configuration, Snakemake, columns of text.

`densevse --help` imports this, so functions import the configuration and the plan where they use them.
"""

import json
import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from densevse.runtime.project import PACKAGE, project_root
from snakeproof.errors import InputError

if TYPE_CHECKING:
    from densevse.config.resolved import Override
    from densevse.dag.project import Project

ROOT = project_root()
"""The folder of the Snakefile, config/ and workflow/."""


def add_configfiles(parser: ArgumentParser) -> None:
    """Adds the option for files that change the configuration, as Snakemake has it."""
    parser.add_argument(
        "--configfile", nargs="+", default=[], metavar="FILE", help="your own files over the configuration"
    )


def overrides(files: Sequence[str], option: str = "--configfile") -> list["Override"]:
    """The contents of config/config.yaml and then of `files`; later ones override earlier ones.

    Raises `InputError` that names the option of a missing file, or of one that holds no mapping.
    """
    from densevse.config.resolved import Override
    from snakeproof.yaml_files import read_yaml

    found = []
    for file in (str(ROOT / "config/config.yaml"), *files):
        if not Path(file).is_file():
            raise InputError(f"{option}: {file} is not there; correct the path.")
        values = read_yaml(file)
        if not isinstance(values, dict):
            raise InputError(f"{option}: {file} holds no keys; see config/README.md for what it may hold.")
        found.append(Override(file, values))
    return found


def configuration(over: Sequence["Override"]) -> Any:
    """The validated configuration (`Config`). Raises `InputError` that names the mistakes in it."""
    from densevse.config.load import load

    return load(ROOT / "config", merge_overrides(over))


def merge_overrides(over: Sequence["Override"]) -> dict[str, Any]:
    """The merged values of several files; later ones override earlier ones."""
    from functools import reduce

    from densevse.config.load import merge

    values: dict[str, Any] = reduce(merge, (one.values for one in over), {})
    return values


def check_name(kind: str, name: str, known: Sequence[str]) -> None:
    """Raises `InputError` for an unknown name, and suggests the most similar one."""
    from snakeproof.strict import suggest_name

    if name not in known:
        raise InputError(f"no {kind} {name!r}; `densevse list` prints the known ones{suggest_name(name, known)}")


def configured_project(configfiles: Sequence[str]) -> "Project":
    """The project with the user's files over its configuration. Raises `InputError` that names a mistake there."""
    from densevse.dag.project import Project

    return Project(ROOT, merge_overrides(overrides(configfiles)))


def checked_project(targets: Sequence[str], configfiles: Sequence[str]) -> "Project":
    """The project as `configured_project` has it, before Snakemake plans `targets`, which takes seconds.

    Raises `InputError` for a mistake in the configuration, and for a table of a name that there is not.
    """
    from densevse.dag.tables import check_tables
    from densevse.dag.targets import check_tables_are_made

    project = configured_project(configfiles)
    check_tables(project)
    rules = (*ROOT.glob("workflow/rules/core/*.smk"), *PACKAGE.glob("analyses/*/*.smk"))
    check_tables_are_made(project, targets, rules)
    return project


LOGGERS = ROOT / "workflow/loggers"
_STANDARD_ERROR = 2
_ERROR = re.compile(r"InputError(?: in file [^\n]*:\n|: )(.*?)(?=\n(?:Wildcards:|Traceback:|  File )|\Z)", re.DOTALL)
_UNKNOWN = re.compile(r"MissingRuleException:\s+No rule to produce (.*?) \(if you use input functions")


class PlannedJob(NamedTuple):
    """A job that a run would start."""

    rule: str
    wildcards: dict[str, str]
    output: list[str]
    stage: str


def snakemake_command(targets: Sequence[str], configfiles: Sequence[str], *options: str) -> list[str]:
    """The command line that starts Snakemake in this folder.

    Raises `InputError` for an empty target, or if Snakemake is not installed.
    """
    from densevse.config.environment import check_extra

    check_extra("snakemake", "workflow", "the workflow")
    if not all(target.strip() for target in targets):
        raise InputError("A target is empty; name a file or a rule. Is a variable of your shell not set?")
    configured = ["--configfile", *configfiles] if configfiles else []
    started = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return [*started, *configured, *options, "--", *targets]


def environment_with_loggers() -> dict[str, str]:
    """The variables of a process of Snakemake that finds the project's loggers."""
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(LOGGERS), *([known] if known else [])])}


def make_targets(targets: Sequence[str], configfiles: Sequence[str], cores: str) -> bool:
    """Runs the workflow, whose messages go to standard error; true if all targets are made.

    Raises `InputError` as `snakemake_command` does.
    """
    command = snakemake_command(targets, configfiles, "--cores", cores, "--quiet", "host", "reason", "progress")
    return subprocess.call(command, stdout=_STANDARD_ERROR) == 0


def write_own_configuration(name: str, values: Mapping[str, Any]) -> str:
    """Writes the configuration of one call of a subcommand, as others may run at the same time; returns its path."""
    from snakeproof.files import write_text

    file = f".snakemake/densevse-{name}.json"
    write_text(json.dumps(values), file)
    return file


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str], results: str) -> list[PlannedJob]:
    """The jobs that a run would start; `results` is the configured folder.

    Raises `InputError` with Snakemake's objections to the targets.
    """
    command = snakemake_command(targets, configfiles, "--dry-run", "--logger", "densevse")
    done = subprocess.run(command, env=environment_with_loggers(), capture_output=True, text=True)
    if done.returncode:
        raise InputError(reason(done.stderr))
    jobs = map(json.loads, filter(None, done.stdout.splitlines()))
    return [
        PlannedJob(job["rule_name"], job["wildcards"], job["output"], job_stage(job["rule_name"], job["log"], results))
        for job in jobs
    ]


def job_stage(rule: str, logs: Sequence[str], results: str) -> str:
    """The folder of a job's log below <results>/logs; a rule that uses another one shares its folder."""
    return Path(logs[0]).relative_to(Path(results, "logs")).parts[0].removesuffix(".log") if logs else rule


def reason(errors: str) -> str:
    """The message of an `InputError`, or of a target that no rule makes; else all that Snakemake printed."""
    found, unknown = _ERROR.search(errors), _UNKNOWN.search(errors)
    if found:
        return found[1].strip()
    if unknown:
        from densevse.dag.targets import unmade_message

        return unmade_message(unknown[1])
    return errors.strip()


_WIDTH = 120
_LEAST = 8
"""The largest number of characters in a line, and the smallest in a shortened column."""


def align_columns(rows: Iterable[Sequence[str]], cut: int, indent: int = 0, right: Sequence[int] = ()) -> str:
    """Rows in columns, each as wide as its longest cell; the column `cut` is shortened to keep lines short.

    The columns `right` are aligned to the right.
    """
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    others = indent + sum(widths) - widths[cut] + 2 * (len(widths) - 1)
    widths[cut] = min(widths[cut], max(_LEAST, _WIDTH - others))
    return "\n".join(_line(row, widths, right, indent) for row in table)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int], indent: int) -> str:
    cells = [text if len(text) <= width else f"{text[: width - 1]}…" for text, width in zip(row, widths, strict=True)]
    placed = [cell.rjust(widths[n]) if n in right else cell.ljust(widths[n]) for n, cell in enumerate(cells)]
    return " " * indent + "  ".join(placed).rstrip()

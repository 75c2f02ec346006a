"""The options of `snakemake` that are refused, each with a reason; a test lists the others, which are harmless.

A run locks its folders, puts outputs aside and writes a bucket's records by Snakemake's hooks, and it tells by
Snakemake's records which files are of today's settings, code and inputs. An option is refused if with it a file of a
right name could have wrong bytes, or if a lock or a record would be left out.
"""

import inspect
import os
from argparse import Namespace
from collections.abc import Callable
from typing import Any, NamedTuple

from snakeproof.errors import InputError

ADOPTS = "SNAKEPROOF_ADOPTS"
"""The environment variable that says that a command adopts files, and starts no job."""
ADOPT = f"{ADOPTS}=1 snakemake --cores 1 --touch --forceall --nolock"
"""The command that adopts files: Snakemake plans all jobs, and starts none."""


class Refusal(NamedTuple):
    """Why an option is refused, and for which of its values."""

    reason: str
    applies: Callable[[Any], bool] = bool


def _lacks_a_trigger(triggers: Any) -> bool:
    return not {"mtime", "params", "input"} <= set(map(str, triggers))


REFUSED: dict[str, Refusal] = {
    # The lock and the records would be left out.
    "no_hooks": Refusal(
        "by hooks a run keeps others from its results, and writes the records of a bucket; leave the option out."
    ),
    "nolock": Refusal(
        "another run in this folder would not see this one, and could lead its records elsewhere or write to its "
        "bucket; leave the option out. If a killed run has left its lock, call snakemake --unlock."
    ),
    "mode": Refusal(
        "Snakemake starts the processes of jobs with it, which take no lock and write no records; leave the option "
        "out.",
        lambda mode: str(mode) != "default",
    ),
    "immediate_submit": Refusal(
        "the run would end before its jobs, so that nothing keeps other runs from their files, or records how these "
        "were made; leave the option out."
    ),
    "drop_metadata": Refusal(
        "a new file would have no record of how it was made, or the record of the file before it; leave the option out."
    ),
    "cleanup_metadata": Refusal(
        "it removes the record of how a file was made, and the mark of a file in doubt. To keep files that agree with "
        "today's settings and inputs, call {adopt}; to have one made again, delete it."
    ),
    "persistence_backend": Refusal(
        "a run compares the files of results with Snakemake's records, which are files beside them; leave the option "
        "out, or write `file`.",
        lambda backend: str(backend) != "file",
    ),
    "draft_notebook": Refusal(
        "the job of this target would leave no record of what it made, and no rule here has a notebook; leave the "
        "option out."
    ),
    # What is not of today's settings, code and inputs would be taken for current.
    "rerun_triggers": Refusal(
        "without mtime, params and input among them, files of other settings, code or inputs would be called current; "
        "name these three, or leave the option out.",
        _lacks_a_trigger,
    ),
    "consider_ancient": Refusal(
        "a file would be called current though its input was made again; leave the option out. A job takes its files "
        "back by itself if its inputs have the same contents as before."
    ),
    "ignore_incomplete": Refusal(
        "files in doubt would be called current; leave the option out. With --rerun-incomplete their jobs run, and "
        "take back what says that it is of today's settings, code and inputs."
    ),
    "trust_io_cache": Refusal(
        "files that were changed or deleted since the last dry run would count as they were then; leave the option out."
    ),
    "touch": Refusal(
        "it would call files current without comparing them. Call {adopt} with the same targets (and your "
        "--configfile): it compares the files with today's settings and inputs, and adopts those that agree."
    ),
    "executor": Refusal(
        "touch would call files current without comparing them. Call {adopt} with the same targets (and your "
        "--configfile).",
        lambda executor: executor == "touch",
    ),
    "batch": Refusal(
        "the last batch would use the files of the others as they are, also those of other settings. To make some of "
        "the files first, name them as targets; then run without the option."
    ),
    "allowed_rules": Refusal(
        "files of all other rules would be used as they are, also those of other settings. To make some of the files "
        "only, name them as targets, or name a rule by --until."
    ),
    # A file would have the bytes of another job, of a failed one, or of other settings than its plan.
    "keep_incomplete": Refusal(
        "what a failed job wrote would stay under its final name, with a record as if it were whole; leave the option "
        "out. The log of the job says why it failed."
    ),
    "allow_ambiguity": Refusal(
        "where two rules make one file, their order would decide which of them does; leave the option out, and give "
        "the file of one of them another path."
    ),
    "cache": Refusal(
        "files would come from a store of other runs, and be links to what these may replace; leave the option out. To "
        "share results, let `results` name one folder for all.",
        lambda rules: rules is not None,
    ),
    "replace_workflow_config": Refusal(
        "jobs on a cluster would still read config/config.yaml, and have other settings than the plan; leave the "
        "option out, and name in your --configfile what shall differ."
    ),
    "omit_flags": Refusal(
        "flags say which files lie in a bucket, whose times count, and what is write-protected; leave the option out."
    ),
    "not_retrieve_storage": Refusal(
        "jobs would use what lies on their machine in place of the bucket's files, and upload nothing; leave the "
        "option out."
    ),
    "keep_storage_local_copies": Refusal(
        "a later run would use such a copy in place of what another checkout has made in the bucket since, if the "
        "clocks of the two differ; leave the option out."
    ),
}
"""The refused options, by the names that Snakemake's parser gives their values."""

_OF_JOBS = {"touch", "nolock"}
"""Refused options that a dry run and the command that adopts, which passes them, may have, as they start no jobs."""


def find_options(command: Callable[..., Any]) -> Namespace:
    """The options of this process, the argument `args` of Snakemake's function `command`, which is being called.

    Snakemake hands most options on only after it has read the rules. Its parser has put together the command line,
    profiles and environment variables. The result would not be the same here, in another working folder.

    Raises `InputError` if something else has started the workflow.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not command.__code__:
        frame = frame.f_back
    if frame is None:
        raise InputError(
            "The options of this run are not known, so it cannot be told if its results are right. Start the workflow "
            "by Snakemake's command, and not through its API."
        )
    options: Namespace = frame.f_locals["args"]
    return options


def check_options(options: Namespace, adopt: str) -> None:
    """Raises `InputError` for a refused option, with the reason. Options of a job's own process are Snakemake's.

    `adopt` is the command that adopts files.
    """
    if options.target_jobs and REFUSED["mode"].applies(options.mode):
        return
    if options.touch and options.default_storage_provider and not options.dryrun:
        raise InputError(
            f"--touch, {adopt}: files in a bucket cannot be adopted. Delete those without a record, and run again."
        )
    starts_jobs = not options.dryrun and ADOPTS not in os.environ
    for name, refusal in REFUSED.items():
        if refusal.applies(getattr(options, name)) and (starts_jobs or name not in _OF_JOBS):
            raise InputError(f"--{name.replace('_', '-')}: {refusal.reason.format(adopt=adopt)}")

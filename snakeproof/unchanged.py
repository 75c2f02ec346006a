"""Takes back the outputs of a job that would be made from the same things again.

Snakemake runs a job when one of its inputs was written again, also with the same contents: an edited sentence writes
the image table anew, with the rows that it had. Snakemake removes the job's outputs before the job starts. So before
the first job, a run puts outputs aside that may be of the planned job as they are. What is put aside is a second name
of the same file, which takes no room, until the run ends. A run that was killed leaves its second names behind; the
next one that makes results removes them. The job takes its outputs back if they say that they are of it.
"""

import hashlib
import os
import shutil
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from snakeproof.errors import InputError
from snakeproof.files import atomic_file
from snakeproof.logs import logger
from snakeproof.seals import verify_file
from snakeproof.statements import (
    RESULTS,
    Statement,
    check_agrees,
    is_artifact,
    is_older,
    job_differences,
    read_statement,
    state_job,
)


def put_aside(workflow: Any, results: str, doubted: Container[str]) -> None:
    """Puts the outputs below `results` aside of those planned jobs of a Snakemake `workflow` that may take them back.

    The run has locked `results`, as what another one has put aside is removed. A job that the user has forced makes its
    outputs again, unless it is planned because they were `doubted`. Where the file system has no second names for a
    file, nothing is put aside, so all jobs compute.
    """
    remove_second_names(results)
    second_names_folder(results).mkdir(parents=True, exist_ok=True)
    planned = {str(file) for job in workflow.dag.needrun_jobs() for file in job.output}
    for job in workflow.dag.needrun_jobs():
        outputs = [str(file) for file in job.output]
        forced = workflow.dag.reason(job).forced and not any(file in doubted for file in outputs)
        if not forced and _may_be_current(job, outputs, planned):
            for file in outputs:
                try:
                    os.link(file, second_name(file))
                except OSError:
                    return


def remove_second_names(results: str) -> None:
    """Removes what was put aside."""
    shutil.rmtree(second_names_folder(results), ignore_errors=True)


def _may_be_current(job: Any, outputs: list[str], planned: Container[str]) -> bool:
    """True if a job's outputs say that they are of it, as far as is known before its inputs are made."""
    if not outputs or not all(is_artifact(file) and os.path.exists(file) for file in outputs):
        return False
    made = min(os.stat(file).st_mtime_ns for file in outputs)
    if any(_is_newer(file, made, planned) for file in job.input):
        return False
    try:
        return not any(
            is_older(file) or job_differences(read_statement(file), state_job(job, is_planned=True)) for file in outputs
        )
    except InputError:
        return False


def _is_newer(file: Any, made: int, planned: Container[str]) -> bool:
    """True for an input without a digest that is newer than `made`, or is made again.

    The times of the user's files do not count.
    """
    if is_artifact(file) or file.is_ancient:
        return False
    return str(file) in planned or (os.path.exists(file) and os.stat(file).st_mtime_ns > made)


def take_back(job: Statement, outputs: Sequence[str]) -> bool:
    """Puts a job's outputs back from where the run put them aside, if they are whole and say that they are of this job.

    Returns False, and leaves everything as it is, if one does not.
    """
    if not all(second_name(output).exists() for output in outputs):
        return False
    try:
        for output in outputs:
            check_agrees(second_name(output), job)
            verify_file(second_name(output))
    except InputError as error:
        logger.info("Made again: %s", error)
        return False
    for output in outputs:
        with atomic_file(output) as temporary:
            temporary.unlink()
            os.link(second_name(output), temporary)
            os.utime(temporary)
    logger.info("Nothing to compute: the inputs were written again, with the contents that they had.")
    return True


def second_names_folder(results: str) -> Path:
    """The folder of the outputs of the folder `results` that were put aside."""
    return Path(results, ".aside")


def second_name(path: str) -> Path:
    """The place of an output while it is aside."""
    name = hashlib.sha256(path.encode()).hexdigest()
    return second_names_folder(os.environ.get(RESULTS, "results")) / f"{name}{Path(path).suffix}"

"""Takes back the outputs of a job that would be made from the same things again.

Snakemake runs a job when one of its inputs was written again, also with the same contents: an edited sentence writes
the image table anew, with the rows that it had. Snakemake removes the job's outputs before the job starts. So the run
puts them aside before its first job (densevse.dag.unchanged). The job takes them back if they say that they are of it.
"""

import os
from collections.abc import Sequence

from densevse.artifacts.files import atomic
from densevse.artifacts.seals import verified
from densevse.artifacts.statements import Statement, check_agrees
from densevse.runtime.aside import aside
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger


def take_back(job: Statement, outputs: Sequence[str]) -> bool:
    """Puts a job's outputs back from where the run put them aside, if they are whole and say that they are of this job.

    Returns False, and leaves everything as it is, if one does not.
    """
    if not all(aside(output).exists() for output in outputs):
        return False
    try:
        for output in outputs:
            check_agrees(aside(output), job)
            verified(aside(output))
    except InputError as error:
        logger.info("Made again: %s", error)
        return False
    for output in outputs:
        with atomic(output) as temporary:
            temporary.unlink()
            os.link(aside(output), temporary)
            os.utime(temporary)
    logger.info("Nothing to compute: the inputs were written again, with the contents that they had.")
    return True

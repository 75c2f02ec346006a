"""Takes back the outputs of a job that would be made from the same things again.

Snakemake runs a job when one of its inputs was written again, also with the same contents: an edited sentence writes
the image table anew, with the rows that it had. Snakemake removes the job's outputs before the job starts. So the run
puts them aside before its first job (densevse.dag.unchanged). The job takes them back if the digests in their lineage
are those of its inputs.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.artifacts.files import atomic
from densevse.artifacts.lineage import DIGESTS, PARENTS, digest, made_from, place
from densevse.artifacts.seals import verified
from densevse.runtime.aside import ARTIFACTS, aside
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger


def take_back(inputs: Sequence[str], outputs: Sequence[str]) -> bool:
    """Puts a job's outputs back from where the run put them aside, if they are whole and of these inputs.

    Every input below results/ that is an artifact must have the digest that the lineage of each output states. Returns
    False, and leaves everything as it is, if one does not.
    """
    try:
        found = {place(file): digest(file) for file in inputs if Path(file).suffix in ARTIFACTS}
        for output in outputs:
            if not (below := {file for file in found if "/" in file}) or not _are_of(aside(output), below, found):
                return False
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


def _are_of(output: Path, files: set[str], found: Mapping[str, str]) -> bool:
    stated: dict[str, Any] = {}
    for parent in made_from(output).get(PARENTS, {}).values():
        stated |= parent.get(DIGESTS, {})
    return all(stated.get(file) == found[file] for file in files)

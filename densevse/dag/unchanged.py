"""Puts outputs aside that are planned to be made again only because an input is newer.

Their jobs compare digests when their inputs are there, and may take the outputs back (densevse.artifacts.unchanged).
What is put aside is a second name of the same file, which takes no room, until the run ends. A run that was killed
leaves its second names behind; the next one removes them.
"""

import os
import shutil
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from densevse.runtime.aside import ARTIFACTS, aside, aside_folder

_NEWER = {"updated input files", "input files updated by another job"}
"""Snakemake's reasons that do not say that anything else changed."""


def put_aside(workflow: Any, results: str, adopted: Container[str]) -> None:
    """Puts the outputs below `results` aside of those planned jobs of a Snakemake `workflow` that may take them back.

    `adopted` are the places of files below `results` that were adopted: their mark would be lost. Where the file system
    has no second names for a file, nothing is put aside, so all jobs compute.
    """
    remove_aside(results)
    aside_folder(results).mkdir(parents=True, exist_ok=True)
    for job in workflow.dag.needrun_jobs():
        outputs = [str(file) for file in job.output]
        if _are_artifacts(outputs, results) and _only_newer(workflow, job, results):
            if any(os.path.relpath(file, results) in adopted for file in outputs):
                continue
            for file in outputs:
                try:
                    os.link(file, aside(file))
                except OSError:
                    return


def remove_aside(results: str) -> None:
    """Removes what was put aside."""
    shutil.rmtree(aside_folder(results), ignore_errors=True)


def _are_artifacts(files: Iterable[str], results: str) -> bool:
    return all(Path(file).suffix in ARTIFACTS and Path(file).is_relative_to(results) for file in files)


def _only_newer(workflow: Any, job: Any, results: str) -> bool:
    """True if a job's outputs are there and it runs only as artifacts that it reads are newer.

    Snakemake looks at no record of a job that another one makes run, so it is asked here.
    """
    reason, records = workflow.dag.reason(job), workflow.persistence
    newer = [str(file) for file in reason.updated_input | reason.updated_input_run]
    return bool(
        {*reason.get_names()} <= _NEWER
        and _are_artifacts(newer, results)
        and all(map(os.path.exists, job.output))
        and records.has_metadata(job)
        and not records.has_outdated_metadata(job)
        and not records.params_changed(job)
        and not any(records.input_changed(job))
    )

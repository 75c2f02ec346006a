"""Kills each stage of a finished run once and lets it begin again, beside the results of all other stages."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from densevse.report.costs import jobs_done, written
from tests.projects import Project, job_counts
from tests.system.torture.trial import finish, jobs_of, kill_everything, leave_no_process, pause, start

FIRST = ".first"
"""The ending of what the first run wrote while its stage runs again."""


def killed_in_each_stage(project: Project, dataset: str, stages: Collection[str]) -> bool:
    """Kills the longest job of each stage, or of some stages, and says whether all wrote the first bytes again.

    Prints a line for each stage. What the first run wrote is put back, with its dates.
    """
    files = _files_of_jobs(project)
    jobs = jobs_done(project.folder / "results").sort_values("seconds").drop_duplicates("stage", keep="last")
    held = True
    for job in jobs.itertuples():
        if job.log in files and Path(job.log).stem.startswith(dataset) and (not stages or job.stage in stages):
            outcome = _killed(project, files[job.log], job.seconds / 2)
            print(f"{job.stage}, killed after {job.seconds / 2:.1f} s: {outcome}", flush=True)
            held &= outcome == "the same bytes, by one job"
    return held


def _files_of_jobs(project: Project) -> Mapping[str, list[str]]:
    """The files that each log's job wrote, by their places in the project."""
    found = pd.DataFrame(written(project.folder / "results"), columns=["path", "log"])
    found = found[[(project.folder / path).is_file() for path in found["path"]]]
    return {str(project.folder / log): list(paths) for log, paths in found.groupby("log")["path"]}


def _killed(project: Project, files: list[str], seconds: float) -> str:
    """The outcome for one job."""
    paths = [project.folder / file for file in files]
    first = [path.rename(path.with_name(path.name + FIRST)) for path in paths]
    run = start(project, tuple(files))
    while run.poll() is None and not jobs_of(run):
        pause(run, 0.05)
    pause(run, seconds)
    if run.poll() is None:
        kill_everything(run)
    run.wait()
    leave_no_process(run)
    log = project.folder / "run.log"
    log.unlink()
    finish(project, tuple(files), at_most=1)
    same = all(path.read_bytes() == kept.read_bytes() for path, kept in zip(paths, first, strict=True))
    for path, kept in zip(paths, first, strict=True):
        kept.replace(path)
    jobs = sum(job_counts(log.read_text(encoding="utf-8")).values())
    return f"{'the same' if same else 'OTHER'} bytes, by {'one job' if jobs == 1 else f'{jobs} jobs'}"

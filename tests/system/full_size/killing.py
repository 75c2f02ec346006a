"""Kills each stage of a finished run once and lets it begin again, beside the results of all other stages."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from densevse.report.costs import finished_jobs, written_files
from tests.projects import Project, job_counts
from tests.system.torture.trial import finish, jobs_of, kill_everything, leave_no_process, pause, start

FIRST = ".first"
"""The ending of what the first run wrote while its stage runs again."""

TIMED = "history.parquet"
"""A training's file whose bytes differ, as it holds the seconds of epochs."""


def killed_in_each_stage(project: Project, dataset: str, stages: Collection[str]) -> bool:
    """Kills the longest job of each stage, or of some stages, and says whether all wrote the first bytes again.

    Prints a line for each stage. What the first run wrote is put back, with its dates.
    """
    files = _files_of_jobs(project)
    jobs = finished_jobs(project.folder / "results").sort_values("seconds").drop_duplicates("stage", keep="last")
    held = True
    for job in jobs.itertuples():
        if job.log in files and Path(job.log).stem.startswith(dataset) and (not stages or job.stage in stages):
            outcome = _killed(project, files[job.log], job.seconds / 2)
            print(f"{job.stage}: {outcome}", flush=True)
            held &= outcome.endswith("the same bytes, by one job")
    return held


def _files_of_jobs(project: Project) -> Mapping[str, list[str]]:
    """The files that each log's job wrote, by their places in the project."""
    found = pd.DataFrame(written_files(project.folder / "results"), columns=["path", "log"])
    found = found[[(project.folder / path).is_file() for path in found["path"]]]
    return {str(project.folder / log): list(paths) for log, paths in found.groupby("log")["path"]}


def _killed(project: Project, files: list[str], seconds: float) -> str:
    """The outcome for the job that makes these files, killed after some seconds or earlier."""
    paths = [project.folder / file for file in files]
    first = [path.rename(path.with_name(path.name + FIRST)) for path in paths]
    while not _is_killed(project, files, seconds):
        seconds /= 2
    log = project.folder / "run.log"
    log.unlink()
    finish(project, tuple(files), at_most=1)
    same = all(
        path.read_bytes() == kept.read_bytes()
        for path, kept in zip(paths, first, strict=True)
        if not path.name.endswith(TIMED)
    )
    for path, kept in zip(paths, first, strict=True):
        kept.replace(path)
    jobs = sum(job_counts(log.read_text(encoding="utf-8")).values())
    verdict, by = "the same" if same else "OTHER", "one job" if jobs == 1 else f"{jobs} jobs"
    return f"killed after {seconds:.1f} s; {verdict} bytes, by {by}"


def _is_killed(project: Project, files: list[str], seconds: float) -> bool:
    """Kills the job that makes these files after some seconds; false, and the files are removed, if it was faster."""
    run = start(project, tuple(files))
    while run.poll() is None and not jobs_of(run):
        pause(run, 0.05)
    pause(run, seconds)
    ended = run.poll() is not None
    if not ended:
        kill_everything(run)
    run.wait()
    leave_no_process(run)
    if ended:
        for file in files:
            (project.folder / file).unlink()
    return not ended

"""Prints the costs of a run: the time and memory of each stage, from the last lines of its jobs' logs.

python -m densevse.report.costs results
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.runtime.errors import InputError
from densevse.runtime.logs import USED

_COLUMNS = (
    TableColumn("stage", number=False),
    TableColumn("data set", number=False),
    TableColumn("jobs"),
    TableColumn("longest job, s"),
    TableColumn("CPU of all, s"),
    TableColumn("most memory, MB"),
)


MEASURED = ("seconds", "processor", "memory")
DONE = re.compile(r"done in " + re.sub(r"\{.*?\}", r"([\\d.]+)", USED) + "$")
"""The last line of the log of a job that succeeded."""
_SHARD = re.compile(r"\d+-of-(\d+)$")


def jobs_done(results: str | Path) -> pd.DataFrame:
    """One row for each job: log, stage, dataset, shards, seconds, processor (CPU seconds) and memory (peak, MB).

    A job's log is named after its data set, whose results have a folder of that name. A log without such a folder, like
    a table's, is listed under its own name. Failed and running jobs are left out.

    Raises `InputError` if no job below `results` has ended.
    """
    files = sorted(Path(results).glob("logs/*/*.log"))
    datasets = [folder.name for folder in Path(results).iterdir() if folder.is_dir()] if files else []
    jobs = [_read(file, datasets) for file in files]
    columns = ["log", "stage", "dataset", "shards", *MEASURED]
    ended = pd.DataFrame([job for job in jobs if job is not None], columns=columns)
    if ended.empty:
        raise InputError(
            f"{results}: expected logs/<stage>/*.log of jobs that are done, found none. Run a table first."
        )
    return ended


def costs(results: str | Path) -> pd.DataFrame:
    """One row for each stage and data set: jobs, seconds of the longest one, CPU seconds of all, peak memory in MB.

    The columns are stage, dataset, jobs, seconds, processor and memory. Raises `InputError` as `jobs_done` does.
    """
    rows = jobs_done(results).groupby(["stage", "dataset"], as_index=False)
    return rows.agg(
        jobs=("seconds", "size"), seconds=("seconds", "max"), processor=("processor", "sum"), memory=("memory", "max")
    )


def table(rows: pd.DataFrame) -> str:
    """The rows of `costs` as Markdown."""
    cells = [
        [stage, dataset, str(jobs), *(f"{figure:,.0f}" for figure in measured)]
        for stage, dataset, jobs, *measured in rows.itertuples(index=False)
    ]
    return Document("Cost of each stage", [Sheet("", _COLUMNS, cells)]).markdown()


def _read(log: Path, datasets: list[str]) -> tuple[str, str, str, int, float, float, float] | None:
    """A row of `jobs_done`; None for a job that is not done."""
    found = DONE.search(log.read_text(encoding="utf-8", errors="replace").rstrip())
    if found is None:
        return None
    seconds, processor, memory = map(float, found.groups())
    named = [name for name in datasets if re.match(rf"{re.escape(name)}([-_]|$)", log.stem)]
    shard = _SHARD.search(log.stem)
    dataset, shards = max(named, key=len, default=log.stem), int(shard[1]) if shard else 1
    return str(log), log.parent.name, dataset, shards, seconds, processor, memory


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", default="results", help="the folder of the run's results")
    print(table(costs(parser.parse_args().results)))

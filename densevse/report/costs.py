"""The costs of a run: the time and memory of each stage, from the last lines of its jobs' logs.

This prints them, or records them in a file from which `densevse plan` estimates those of other runs:

python -m densevse.report.costs results
python -m densevse.report.costs results --record config/costs.csv --machine "2 cores of an AMD EPYC"
"""

import argparse
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.rendering import Document, Sheet, TableColumn
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.logs import USED
from snakeproof.records import list_addresses

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


def finished_jobs(results: str | Path) -> pd.DataFrame:
    """One row for each job: log, stage, dataset, shards, seconds, processor (CPU seconds) and memory (peak, MB).

    A job's log is named after its data set, whose results have a folder of that name. A log without such a folder, like
    a table's, is listed under its own name. Failed and running jobs are left out.

    Raises `InputError` if no job below `results` has ended.
    """
    files = sorted(Path(results).glob("logs/*/*.log"))
    datasets = [folder.name for folder in Path(results).iterdir() if folder.is_dir()] if files else []
    jobs = [_read_job(file, datasets) for file in files]
    columns = ["log", "stage", "dataset", "shards", *MEASURED]
    ended = pd.DataFrame([job for job in jobs if job is not None], columns=columns)
    if ended.empty:
        raise InputError(
            f"{results}: expected logs/<stage>/*.log of jobs that are done, found none. Run a table first."
        )
    return ended


def costs(results: str | Path) -> pd.DataFrame:
    """One row for each stage and data set: jobs, seconds of the longest one, CPU seconds of all, peak memory in MB.

    The columns are stage, dataset, jobs, seconds, processor and memory. Raises `InputError` as `finished_jobs` does.
    """
    rows = finished_jobs(results).groupby(["stage", "dataset"], as_index=False)
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


def _read_job(log: Path, datasets: list[str]) -> tuple[str, str, str, int, float, float, float] | None:
    """A row of `finished_jobs`; None for a job that is not done."""
    found = DONE.search(log.read_text(encoding="utf-8", errors="replace").rstrip())
    if found is None:
        return None
    seconds, processor, memory = map(float, found.groups())
    named = [name for name in datasets if re.match(rf"{re.escape(name)}([-_]|$)", log.stem)]
    shard = _SHARD.search(log.stem)
    dataset, shards = max(named, key=len, default=log.stem), int(shard[1]) if shard else 1
    return str(log), log.parent.name, dataset, shards, seconds, processor, memory


RECORDED_COLUMNS = ["stage", "dataset", "images", "jobs", "seconds", "memory", "bytes", "machine", "date"]


def cost_records(results: str | Path, machine: str) -> pd.DataFrame:
    """One row for each stage and data set, with `RECORDED_COLUMNS`.

    `images` is the number of images of one job, empty if the data set has no images; `seconds` are processor seconds
    and `bytes` are bytes written, per job; `memory` is the peak of a job in MB; `date` is that of the last log. Raises
    `InputError` as `finished_jobs` does.
    """
    jobs = finished_jobs(results)
    written = _bytes_by_log(results)
    jobs["bytes"] = [written[log] for log in jobs["log"]]
    jobs["images"] = [_count_images(Path(results, dataset)) for dataset in jobs["dataset"]]
    jobs["images"] = (jobs["images"] / jobs["shards"]).round().astype("Int64")
    last = max(os.path.getmtime(log) for log in jobs["log"])
    rows = jobs.groupby(["stage", "dataset"], as_index=False).agg(
        images=("images", "max"),
        jobs=("seconds", "size"),
        seconds=("processor", "mean"),
        memory=("memory", "max"),
        bytes=("bytes", "mean"),
    )
    date = datetime.fromtimestamp(last, UTC).date().isoformat()
    rows = rows.assign(machine=machine, date=date).round({"seconds": 1, "memory": 0, "bytes": 0})
    return rows.astype({"memory": "Int64", "bytes": "Int64"})[RECORDED_COLUMNS]


def record_costs(rows: pd.DataFrame, file: str | Path) -> None:
    """Replaces the rows of the same stage and data set in a file, which need not exist yet."""
    if Path(file).is_file():
        rows = pd.concat([pd.read_csv(file, keep_default_na=False), rows])
    kept = rows.drop_duplicates(["stage", "dataset"], keep="last").sort_values(["stage", "dataset"])
    write_text(kept.to_csv(index=False, float_format="%.10g"), file)


def _bytes_by_log(results: str | Path) -> Counter[str]:
    """The bytes that each log's job wrote, as far as Snakemake's records name its files."""
    found: Counter[str] = Counter()
    for path, log in written_files(results):
        found[log] += os.path.getsize(path) if os.path.isfile(path) else 0
    return found


def written_files(results: str | Path) -> Iterator[tuple[str, str]]:
    """The paths in Snakemake's records, each with the log of the job that wrote it."""
    for folder in Path(results).glob(".records-*"):
        for path, record in list_addresses(folder):
            yield from ((path, log) for log in json.loads(record.read_text(encoding="utf-8"))["log"])


def _count_images(folder: Path) -> float:
    """The number of images of a data set; NaN if it has none."""
    table = folder / "images.parquet"
    return len(schema.read(table, IMAGES, ["image_id"])) if table.is_file() else float("nan")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", default="results", help="the folder of the run's results")
    parser.add_argument("--record", metavar="FILE", help="such as config/costs.csv")
    parser.add_argument(
        "--machine",
        default=f"{os.cpu_count()} cores, {platform.machine()}",
        help="the machine's name, as it is recorded",
    )
    asked = parser.parse_args()
    if asked.record:
        record_costs(cost_records(asked.results, asked.machine), asked.record)
    else:
        print(table(costs(asked.results)))

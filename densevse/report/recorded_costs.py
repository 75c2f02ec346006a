"""Records the costs of a run in a file, from which `densevse plan` estimates those of other runs.

python -m densevse.report.recorded_costs results config/costs.csv --machine "2 cores of an AMD EPYC"
"""

import argparse
import json
import os
import platform
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.files import write_text
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.costs import jobs_done

COLUMNS = ["stage", "dataset", "images", "jobs", "seconds", "memory", "bytes", "machine", "date"]


def recorded(results: str | Path, machine: str) -> pd.DataFrame:
    """One row for each stage and data set, with `COLUMNS`.

    `images` is the number of images of one job, empty if the data set has no images; `seconds` are processor seconds
    and `bytes` are bytes written, per job; `memory` is the peak of a job in MB; `date` is that of the last log. Raises
    `InputError` as `jobs_done` does.
    """
    jobs = jobs_done(results)
    written = _bytes_by_log(results)
    jobs["bytes"] = [written[log] for log in jobs["log"]]
    jobs["images"] = [_images(Path(results, dataset)) for dataset in jobs["dataset"]]
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
    return rows.astype({"memory": "Int64", "bytes": "Int64"})[COLUMNS]


def keep(rows: pd.DataFrame, file: str | Path) -> None:
    """Replaces the rows of the same stage and data set in a file, which need not exist yet."""
    if Path(file).is_file():
        rows = pd.concat([pd.read_csv(file, keep_default_na=False), rows])
    kept = rows.drop_duplicates(["stage", "dataset"], keep="last").sort_values(["stage", "dataset"])
    write_text(kept.to_csv(index=False, float_format="%.10g"), file)


def _bytes_by_log(results: str | Path) -> Counter[str]:
    """The bytes that each log's job wrote, as far as Snakemake's records name its files."""
    found: Counter[str] = Counter()
    for path, log in _written(results):
        found[log] += os.path.getsize(path) if os.path.isfile(path) else 0
    return found


def _written(results: str | Path) -> Iterator[tuple[str, str]]:
    """The paths in Snakemake's records, each with the log of the job that wrote it."""
    for record in Path(results).glob(".records-*/*"):
        if record.is_file():
            path = b64decode(record.name).decode()
            yield from ((path, log) for log in json.loads(record.read_text(encoding="utf-8"))["log"])


def _images(folder: Path) -> float:
    """The number of images of a data set; NaN if it has none."""
    table = folder / "images.parquet"
    return len(schema.read(table, IMAGES, ["image_id"])) if table.is_file() else float("nan")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="the folder of the run's results")
    parser.add_argument("file", help="such as config/costs.csv")
    parser.add_argument(
        "--machine",
        default=f"{os.cpu_count()} cores, {platform.machine()}",
        help="the machine's name, as it is printed",
    )
    asked = parser.parse_args()
    keep(recorded(asked.results, asked.machine), asked.file)

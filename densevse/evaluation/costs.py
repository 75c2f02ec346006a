"""What a run cost: the time and memory of each stage, from the benchmark files that Snakemake wrote.

python -m densevse.evaluation.costs results
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from densevse.errors import InputError
from densevse.evaluation.rendering import Column, Document, Sheet

COLUMNS = (
    Column("stage", number=False),
    Column("data set", number=False),
    Column("jobs"),
    Column("longest job, s"),
    Column("most memory, MB"),
)


def costs(results: str | Path) -> pd.DataFrame:
    """One row for each stage and data set: jobs, seconds of the longest one, peak memory of the largest one in MB.

    The columns are stage, dataset, jobs, seconds and memory. A job's file is named after its data set, whose results
    have a folder of that name; one without such a folder, like a table's, stands under its own name.

    Raises `InputError` if nothing below `results` was measured.
    """
    files = sorted(Path(results).glob("benchmarks/*/*.tsv"))
    datasets = [folder.name for folder in Path(results).iterdir() if folder.is_dir()] if files else []
    measured = [_read(file, datasets) for file in files if file.stat().st_size]
    if not measured:
        raise InputError(f"{results}: expected benchmarks/<stage>/*.tsv, found none. Run a table with snakemake first.")
    rows = pd.concat(measured).groupby(["stage", "dataset"], as_index=False)
    return rows.agg(jobs=("s", "size"), seconds=("s", "max"), memory=("max_rss", "max"))


def table(rows: pd.DataFrame) -> str:
    """What `costs` found, as Markdown."""
    cells = [
        [stage, dataset, str(jobs), f"{seconds:,.0f}", f"{memory:,.0f}"]
        for stage, dataset, jobs, seconds, memory in rows.itertuples(index=False)
    ]
    return Document("What each stage cost", [Sheet("", COLUMNS, cells)]).markdown()


def _read(file: Path, datasets: list[str]) -> pd.DataFrame:
    """The runs of a job; a job too short to be measured has no memory."""
    runs = pd.read_csv(file, sep="\t", usecols=["s", "max_rss"], na_values=["-", "NA"])
    named = [name for name in datasets if re.match(rf"{re.escape(name)}([-_]|$)", file.stem)]
    return runs.assign(stage=file.parent.name, dataset=max(named, key=len, default=file.stem))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", default="results", help="the folder of the run's results")
    print(table(costs(parser.parse_args().results)))

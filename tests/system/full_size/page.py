"""Writes docs/tables/full_size.md: the time and memory of each stage at several sizes, from the folders of their runs.

python -m tests.system.full_size.page full_size_2000 full_size_8000 full_size > docs/tables/full_size.md
"""

import sys
from pathlib import Path

import pandas as pd

from benchmarks._machine import machine
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.costs import costs
from densevse.report.rendering import Document, Sheet, TableColumn
from snakeproof import schema

DATASET = "flickr30k"
MEASURED = {"seconds": "longest job, s", "processor": "CPU of all, s", "memory": "most memory, MB"}


def page(folders: list[Path]) -> str:
    """The page of some runs' folders, smallest first; a stage that a run does not have is left empty."""
    runs = {_images(folder): _stages(folder) for folder in folders}
    joined = pd.concat(runs, axis=1).sort_index()
    cells = [[stage, *map(_cell, row)] for stage, *row in joined.itertuples()]
    measured = [TableColumn(f"{images:,} images: {MEASURED[name]}") for images, name in joined.columns]
    table = Sheet("", (TableColumn("stage", number=False), *measured), cells)
    text = Document("Flickr30k's size, on made-up data", [table]).markdown()
    return f"{text}\nMade by `make full-size`, on {machine()}.\n"


def _cell(number: float) -> str:
    return "" if pd.isna(number) else f"{number:,.0f}"


def _stages(folder: Path) -> pd.DataFrame:
    rows = costs(folder / "results")
    return rows[rows["dataset"] == DATASET].set_index("stage")[[*MEASURED]]


def _images(folder: Path) -> int:
    return len(schema.read(folder / f"results/{DATASET}/images.parquet", IMAGES, ["image_id"]))


if __name__ == "__main__":
    print(page([Path(name) for name in sys.argv[1:]]), end="")

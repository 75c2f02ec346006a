"""The sizes of data sets before their jobs run: by their tables and files, by the configuration, or as assumed."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from densevse.config.datasets import BorrowingDataset, Dataset
from densevse.config.values import DatasetName
from densevse.dag.datasets import UNKNOWN_SIZE
from densevse.dag.project import Project
from snakeproof.errors import InputError

PIXELS, SCENE = 500 * 375, 96 * 96
"""The usual pixels of a photograph, and those of a picture of the generated data set scenes."""

LISTED = 100_000
"""The images of the largest data set whose files a plan reads; more take minutes."""


class Sizes(NamedTuple):
    """The sizes of a data set."""

    images: int
    train: int  # images of the split, as the two others
    val: int
    test: int
    pixels: float  # of an image


class DatasetSizes:
    """The sizes of the data sets of a project. Tables that are made again (`replaced`) do not count."""

    def __init__(self, project: Project, replaced: Collection[str] = ()) -> None:
        self.project, self.replaced = project, replaced
        self.find = cache(self._find)
        self.assumed: dict[DatasetName, int] = {}
        """The data sets of which nothing says how many images they have, with the number that was assumed."""

    def count_rows(self, dataset: DatasetName, name: str) -> int | None:
        """The rows of a table of a data set; None if it does not exist yet, or is made again."""
        if (table := self._table(dataset, name)) is None:
            return None
        from pyarrow.parquet import read_metadata

        return int(read_metadata(table).num_rows)

    def _table(self, dataset: DatasetName, name: str) -> Path | None:
        table = Path(self.project.results, dataset, name)
        return table if table.is_file() and str(table) not in self.replaced else None

    def _find(self, dataset: DatasetName) -> Sizes:
        """Raises `InputError` that names the key of the person's own files if these are not as it says."""
        entry = self.project.datasets[dataset]
        if table := self._table(dataset, "images.parquet"):
            return _read_sizes(table)
        try:
            splits = _count_files(entry, self.project.source_names(dataset)) or self._usual_splits(dataset, entry)
        except InputError as error:
            raise InputError(f"{self._key(dataset, entry)}: {error}") from None
        train, val, test = (splits.get(split, 0) for split in ("train", "val", "test"))
        return Sizes(sum(splits.values()), train, val, test, SCENE if entry.reader == "scenes" else PIXELS)

    def _key(self, dataset: DatasetName, entry: Dataset) -> str:
        """The key of a data set in the configuration; of a search's photographs, that of the first search of them."""
        own = (pair for settings in self.project.config.analyses() for pair in settings.paths())
        local = entry.local.items() if isinstance(entry, BorrowingDataset) else ()
        return next((key for key, path in own if (key.rpartition(".")[2], path) in local), f"datasets.{dataset}")

    def _usual_splits(self, dataset: DatasetName, entry: Dataset) -> Mapping[str, int]:
        """The images of each split: as stated, or as published splits divide them."""
        if stated := entry.stated_splits:
            return stated
        images = entry.about_images or self.assumed.setdefault(dataset, UNKNOWN_SIZE)
        held_out = 5000 if images > 100_000 else min(1000, images // 4)
        return {"train": images - 2 * held_out, "val": held_out, "test": held_out}


def _count_files(entry: Dataset, names: Sequence[str]) -> Mapping[str, int] | None:
    """The images of each split by a person's own files; None if these are not all there, or too many."""
    from densevse.datasets.own_files import list_dataset

    if isinstance(entry, BorrowingDataset):
        photographs = entry.local.get("photographs")
        return {"test": count_pictures(photographs)} if photographs and Path(photographs).exists() else None
    own = {name: entry.local[name] for name in names if name in entry.local and Path(entry.local[name]).exists()}
    if len(own) < max(len(names), 1) or entry.resplit or (entry.about_images or 0) > LISTED:
        return None
    images, _ = list_dataset(entry, own)
    return Counter(images["split"])


def count_pictures(path: str) -> int:
    """The pictures in a folder, zip or tar, by their suffixes."""
    from densevse.artifacts.archives import Archive
    from densevse.artifacts.images import SUFFIXES

    with Archive.open(path) as archive:
        return sum(PurePosixPath(name).suffix.lower() in SUFFIXES for name in archive.names())


def _read_sizes(table: Path) -> Sizes:
    """The sizes that an image table states."""
    from pyarrow.parquet import read_table

    found = read_table(table, columns=["split", "width", "height"]).to_pydict()
    splits = Counter(found["split"])
    pixels = [width * height for width, height in zip(found["width"], found["height"], strict=True) if width and height]
    mean = sum(pixels) / max(len(pixels), 1)
    return Sizes(len(found["split"]), splits["train"], splits["val"], splits["test"], mean)

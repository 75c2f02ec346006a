"""Shared code of the readers: finds image files, and divides a data set that has no official split."""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal, get_args

import pandas as pd

from densevse.config.strict import Split
from densevse.datasets.archives import Archive, base_names
from densevse.datasets.file_names import plain
from densevse.runtime.errors import InputError

FileSplit = Literal[Split, "restval"]
"""A split by its name in Karpathy's files."""
SPLITS = get_args(FileSplit)
"""In the order of the image table. Only the split column decides what training may read."""

IMAGE_COLUMNS = ["image_id", "source", "file", "split"]
CAPTION_COLUMNS = ["image_id", "text"]


def by_split(images: pd.DataFrame) -> pd.DataFrame:
    """The images in the order of their splits, and otherwise in the order given."""
    return images.sort_values("split", key=lambda split: split.map(SPLITS.index), kind="stable", ignore_index=True)


def captions_of(images: pd.DataFrame, captions: pd.DataFrame) -> pd.DataFrame:
    """The captions of images, in the order of the images, each with the split of its image."""
    row = captions["image_id"].map(pd.Series(images.index, index=images["image_id"]))
    found = captions.assign(row=row).dropna(subset="row").sort_values("row", kind="stable", ignore_index=True)
    split = images["split"].to_numpy()[found["row"].astype(int)]
    return found.assign(split=split).drop(columns="row")


class ImageIndex:
    """Finds the source and the path of an image file; reads only names."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._places: dict[str, list[tuple[str, str]]] = {}
        self._first = next(iter(paths))
        for source, path in paths.items():
            with Archive.open(path) as archive:
                for base, names in base_names(archive).items():
                    self._places.setdefault(base, []).extend((source, name) for name in names)

    def place(self, file: str) -> tuple[str, str]:
        """Source and path of the one file that ends in `file` (a name, with or without folders).

        A file that does not exist gets the first source, and is reported as missing when it is read. Raises
        `InputError` if several files match.
        """
        file = plain(file)
        places = [
            (source, name)
            for source, name in self._places.get(PurePosixPath(file).name, [])
            if f"/{name}".endswith(f"/{file}")
        ]
        if len(places) > 1:
            raise InputError(f"image {file}: several files match: {places}; keep only one of them.")
        return places[0] if places else (self._first, file)


def image_sources(paths: Mapping[str, str], others: set[str]) -> dict[str, str]:
    """The sources with images: all except `others`. Raises `InputError` if there are none."""
    images = {name: path for name, path in paths.items() if name not in others}
    if not images:
        raise InputError(f"the data set has no source with images beside {sorted(paths)}; name one in `sources`.")
    return images


def image_frame(splits: Mapping[str, str], files: Mapping[str, str], paths: Mapping[str, str]) -> pd.DataFrame:
    """The image rows of a reader, in the order of `splits` (by image id, as `files`); `paths` are the image sources."""
    index = ImageIndex(paths)
    rows = [(image, *index.place(files[image]), split) for image, split in splits.items()]
    return pd.DataFrame(rows, columns=IMAGE_COLUMNS)


def seeded_splits(images: Iterable[str], sizes: Mapping[Split, int], seed: int) -> dict[str, str]:
    """Draws images at random into splits of the given sizes; drawn images keep the order of `images`.

    The random order is that of SHA-256 over seed and id, so it depends neither on library versions nor on the order of
    `images`. Raises `InputError` if there are not enough images.
    """
    images = list(images)
    if sum(sizes.values()) > len(images):
        raise InputError(f"options.splits asks for {dict(sizes)}, but there are {len(images)} images.")
    chance = iter(sorted(images, key=lambda image: hashlib.sha256(f"{seed}:{image}".encode()).digest()))
    drawn = {image: split for split, size in sizes.items() for image in islice(chance, size)}
    return {image: drawn[image] for image in images if image in drawn}

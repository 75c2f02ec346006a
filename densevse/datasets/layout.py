"""Common parts of the readers of official layouts: text files, image files by name, and random splits."""

import hashlib
import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, get_args

import pandas as pd
from pydantic import StringConstraints, TypeAdapter, ValidationError

from densevse.artifacts.archives import Archive, base_names
from densevse.artifacts.file_names import plain_name
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.texts import check_text, numbered_lines
from densevse.config.values import Split
from snakeproof.errors import InputError

Content = TypeVar("Content")
Paths = Mapping[str, str]
"""The paths of a data set's sources, by name."""
Text = Annotated[str, StringConstraints(min_length=0)]
"""Text that can be encoded. An unpaired surrogate, which JSON may hold, cannot; only a constraint finds it."""


def read_file(path: str, pattern: str) -> bytes:
    """The bytes of the one file below `path` whose name matches `pattern`; or of `path`, if it is a plain file.

    Raises `InputError` if no file matches, or several do.
    """
    files = dict(read_files(path, pattern))
    if len(files) != 1:
        raise InputError(f"{path}: expected one file {pattern}, found {sorted(files)}.")
    return next(iter(files.values()))


def read_files(path: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file below `path` whose name (without folders) matches `pattern`, sorted by name.

    A plain file matches whatever its name. Raises `InputError` if there is none.
    """
    if is_plain_file(path):
        yield path, Path(path).read_bytes()
        return
    asked = plain_name(pattern)
    with Archive.open(path) as archive:
        by_base = base_names(archive)
        found = by_base.get(asked) or sorted(
            name for base, names in by_base.items() if fnmatch(base.lower(), asked.lower()) for name in names
        )
        if not found:
            raise InputError(f"{path}: no file {pattern} in it; it has {', '.join(archive.names()[:10]) or 'none'}.")
        for name in found:
            yield name, archive.read(name)


def read_lines(path: str, pattern: str, encoding: str = "utf-8") -> list[tuple[int, str]]:
    """The lines that are not blank of the file that matches `pattern`, with their numbers from 1."""
    return numbered_lines(read_file(path, pattern), f"{path}, {pattern}", encoding)


def can_be_written(text: str) -> bool:
    """True if the text has no unpaired surrogate, which JSON may hold."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def are_sentences(found: Any) -> TypeGuard[list[str | None]]:
    """True for a list of texts that can be written, or of null, which is no sentence."""
    return isinstance(found, list) and all(isinstance(one, str | None) and can_be_written(one or "") for one in found)


def read_json(data: bytes, where: str, leave_out: str | None = None) -> Any:
    """Parses JSON without the key `leave_out` of any object, which is dropped while reading to save memory."""

    def drop_key(item: dict[str, Any]) -> dict[str, Any]:
        item.pop(str(leave_out), None)
        return item

    check_text(data, where, "utf-16")  # which JSON may be
    try:
        return json.loads(data, object_hook=drop_key if leave_out else None)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON in UTF-8 ({error}); obtain the file again.") from error


def check_layout(layout: TypeAdapter[Content], content: Any, where: str) -> Content:
    """Checks `content` against its layout. Raises `InputError` that names the first entries of another kind."""
    try:
        return layout.validate_python(content)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}, found {str(one['input'])[:60]!a}"
            for one in error.errors(include_url=False)[:5]
        ]
        count = f"{error.error_count()} entries are not as the layout of such a file says"
        raise InputError("\n  ".join([f"{where}: {count}:", *wrong])) from None


def is_plain_file(path: str) -> bool:
    """True if `path` is a file and not an archive."""
    return Path(path).is_file() and not zipfile.is_zipfile(path) and not tarfile.is_tarfile(path)


FileSplit = Literal[Split, "restval"]
"""A split by its name in Karpathy's files."""
SPLITS = get_args(FileSplit)
"""In the order of the image table. Only the split column decides what training may read."""

IMAGE_COLUMNS = ["image_id", "source", "file", "split"]
CAPTION_COLUMNS = ["image_id", "text"]
BOX_COLUMNS = [column.name for column in BOXES.columns]
STATED_SIZE = ["stated_width", "stated_height"]
"""The size of a box's image, in pixels, by the file of the boxes."""


def sort_by_split(images: pd.DataFrame) -> pd.DataFrame:
    """The images in the order of their splits, and otherwise in the order given."""
    return images.sort_values("split", key=lambda split: split.map(SPLITS.index), kind="stable", ignore_index=True)


def select_captions(images: pd.DataFrame, captions: pd.DataFrame) -> pd.DataFrame:
    """The captions of images, in the order of the images, each with the split of its image."""
    row = captions["image_id"].map(pd.Series(images.index, index=images["image_id"]))
    found = captions.assign(row=row).dropna(subset="row").sort_values("row", kind="stable", ignore_index=True)
    split = images["split"].to_numpy()[found["row"].astype(int)]
    return found.assign(split=split).drop(columns="row")


class ImageIndex:
    """Finds the source and the path of an image file; reads only names."""

    def __init__(self, paths: Paths) -> None:
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
        file = plain_name(file)
        places = [
            (source, name)
            for source, name in self._places.get(PurePosixPath(file).name, [])
            if f"/{name}".endswith(f"/{file}")
        ]
        if len(places) > 1:
            raise InputError(f"image {file}: several files match: {places}; keep only one of them.")
        return places[0] if places else (self._first, file)


def image_sources(paths: Paths, others: set[str]) -> dict[str, str]:
    """The sources with images: all except `others`. Raises `InputError` if there are none."""
    images = {name: path for name, path in paths.items() if name not in others}
    if not images:
        raise InputError(f"the data set has no source with images beside {sorted(paths)}; name one in `sources`.")
    return images


def image_frame(splits: Mapping[str, str], files: Mapping[str, str], paths: Paths) -> pd.DataFrame:
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

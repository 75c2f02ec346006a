"""Reads WebDatasets: tars with <key>.jpg beside <key>.txt or <key>.json, as img2dataset and CLIP_benchmark have them.

A text has a sentence in each line. A JSON file has the sentence, or a list of them, under one key. An image's id is its
tar and its key, such as 00000/000000012.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pandas as pd

from densevse.artifacts.archives import Archive
from densevse.artifacts.images import SUFFIXES
from densevse.config.readers import WebDataset
from densevse.datasets.layout import (
    CAPTION_COLUMNS,
    IMAGE_COLUMNS,
    Paths,
    are_sentences,
    decode_text,
    numbered_lines,
    seeded_splits,
    sort_by_split,
)
from snakeproof.errors import InputError
from snakeproof.logs import logger


class _Tar(NamedTuple):
    """A tar of a source: its path in a folder or, if the source is the tar, the tar's name."""

    source: str
    name: str
    path: Path
    below: str  # what stands before the names of its members in the source


def read(options: WebDataset, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the tars of all sources, each a tar or a folder of tars.

    Raises `InputError` for a split without a tar, for a tar of two splits, for a sample of two pictures, and for a text
    or JSON file that cannot be read.
    """
    images: dict[str, tuple[str, str]] = {}
    splits: dict[str, str] = {}
    captions: list[tuple[str, str]] = []
    several = 0
    for tar, split in _tars(options, paths):
        without = list[str]()
        with Archive.open(tar.path) as archive:
            for key, members in _samples(archive).items():
                pictures = [name for suffix, name in members.items() if f".{suffix}" in SUFFIXES]
                if not pictures:
                    without.append(key)
                    continue
                if len(pictures) > 1:
                    raise InputError(f"{tar.path}: {key} has {' and '.join(pictures)}; leave one picture of each key.")
                image_id = f"{PurePosixPath(tar.name).with_suffix('')}/{key}"
                if image_id in images:
                    raise InputError(f"{tar.path}: another tar of that name has {image_id} as well; rename one.")
                images[image_id], splits[image_id] = (tar.source, f"{tar.below}{pictures[0]}"), split
                if options.sentences in members:
                    name = members[options.sentences]
                    found = _sentences(options, archive.read(name), f"{tar.path}, {name}")
                    several += len(found) > 1
                    captions += [(image_id, sentence) for sentence in found]
        if without:
            logger.warning(
                "%s: %d samples without a picture are left out, the first is %s; a key ends at the first dot of a name",
                *(tar.path, len(without), without[0]),
            )
    logger.info("%d of %d samples have several sentences; a text has one in each line", several, len(images))
    if options.splits:
        splits = seeded_splits(images, options.splits, options.seed)
    rows = [(image_id, *images[image_id], split) for image_id, split in splits.items()]
    return sort_by_split(pd.DataFrame(rows, columns=IMAGE_COLUMNS)), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def _tars(options: WebDataset, paths: Paths) -> list[tuple[_Tar, str]]:
    """The tars with their splits; no split where images are drawn.

    Raises `InputError` for a split without a tar, and for a tar of two splits.
    """
    tars = [tar for source, path in paths.items() for tar in _source_tars(source, Path(path))]
    if options.files is None:
        return [(tar, "") for tar in tars]
    found: list[tuple[_Tar, str]] = [
        (tar, split) for split, pattern in options.files.items() for tar in tars if fnmatch(tar.name, pattern)
    ]
    for split, pattern in options.files.items():
        if split not in [of for _, of in found]:
            there = ", ".join(tar.name for tar in tars[:10])
            raise InputError(f"options.files.{split}: no tar is called {pattern}; there are {there or 'none'}.")
    of_tar: dict[Path, str] = {}
    for tar, of in found:
        if of_tar.setdefault(tar.path, of) != of:
            raise InputError(
                f"options.files: {tar.name} matches the patterns of {of_tar[tar.path]} and of {of}; name each tar in "
                "one split (a * also stands for folders)."
            )
    return found


def _source_tars(source: str, path: Path) -> Iterator[_Tar]:
    if not path.is_dir():
        yield _Tar(source, path.name, path, "")
        return
    for file in sorted(path.rglob("*.tar")):
        name = file.relative_to(path).as_posix()
        yield _Tar(source, name, file, f"{name}/")


def _samples(archive: Archive) -> dict[str, dict[str, str]]:
    """The members of each sample: key -> suffix -> name. A key ends at the first dot of a file's name."""
    samples: dict[str, dict[str, str]] = defaultdict(dict)
    for name in archive.names():
        key, _, suffix = PurePosixPath(name).name.partition(".")
        samples[str(PurePosixPath(name).parent / key)][suffix.lower()] = name
    return samples


def _sentences(options: WebDataset, data: bytes, where: str) -> list[str]:
    if options.sentences != "json":
        return [line.strip() for _, line in numbered_lines(data, where, "utf-8")]
    try:
        found = json.loads(decode_text(data, where, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); obtain the tar again.") from None
    has_field = isinstance(found, Mapping) and options.field in found
    value = found[options.field] if has_field else None
    sentences = [one for one in (value if isinstance(value, list) else [value]) if one is not None]  # null is none
    if not has_field or not are_sentences(sentences):
        raise InputError(
            f"{where}: {options.field!r} holds {str(value)[:60]!a} instead of a sentence or a list of them; name "
            "another key as options.field."
        )
    return sentences

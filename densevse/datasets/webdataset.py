"""Reads WebDatasets: tars with <key>.jpg beside <key>.txt or <key>.json, as img2dataset and CLIP_benchmark have them.

A text has a sentence in each line. A JSON file has the sentence, or a list of them, under one key. An image's id is its
tar and its key, such as 00000/000000012. A key may have dots: it ends where the suffix of a picture, or of the files
with sentences, begins. But a key that another one continues after a dot, as IMG_2 and IMG_2.0, is refused, as most
programs end keys at the first dot and so take both for one.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pandas as pd

from densevse.artifacts.archives import Archive, list_files
from densevse.artifacts.file_names import names_by_key
from densevse.artifacts.images import SUFFIXES
from densevse.artifacts.texts import decode_text, numbered_lines
from densevse.config.readers import WebDataset
from densevse.datasets.layout import (
    CAPTION_COLUMNS,
    IMAGE_COLUMNS,
    Paths,
    are_sentences,
    seeded_splits,
    sort_by_split,
)
from snakeproof.errors import InputError
from snakeproof.logs import logger


class _SourceTar(NamedTuple):
    """A tar of a source: its path in a folder or, if the source is the tar, the tar's name."""

    source: str
    name: str
    path: Path
    below: str  # what stands before the names of its members in the source


def read(options: WebDataset, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the tars of all sources, each a tar or a folder of tars.

    Of a text whose key has no picture only the key is returned. Raises `InputError` for a split without a tar, for a
    tar of two splits, for a key of two pictures or texts, for tars without a picture, and for a text or JSON file that
    cannot be read.
    """
    images: dict[str, tuple[str, str]] = {}
    splits: dict[str, str] = {}
    captions: list[tuple[str, str | None]] = []
    several, others = 0, list[str]()
    tars = _tars(options, paths)
    for tar, split in tars:
        below = PurePosixPath(tar.name).with_suffix("")
        with Archive.open(tar.path) as archive:
            pictures, texts = _samples(archive, options)
            for key, name in pictures.items():
                image_id = f"{below}/{key}"
                if image_id in images:
                    raise InputError(f"{tar.path}: another tar of that name has {image_id} as well; rename one.")
                images[image_id], splits[image_id] = (tar.source, f"{tar.below}{name}"), split
            for key, name in texts.items():
                found = _sentences(options, archive.read(name), f"{tar.path}, {name}") if key in pictures else [""]
                several += len(found) > 1
                captions += [(f"{below}/{key}", sentence) for sentence in found]
            others += archive.names()[:3]
    logger.info("%d of %d samples have several sentences; a text has one in each line", several, len(images))
    if not images:
        raise InputError(
            f"{', '.join(str(tar.path) for tar, _ in tars[:3]) or ', '.join(paths.values())}: no name ends as one of "
            f"a picture, in {', '.join(_picture_suffixes(options))}; there are {', '.join(others[:3]) or 'no files'}. "
            "Name the suffix of the pictures as options.pictures, and that of the sentences as options.sentences."
        )
    if options.splits:
        splits = seeded_splits(images, options.splits, options.seed)
        captions = [one for one in captions if one[0] in splits or one[0] not in images]
    rows = [(image_id, *images[image_id], split) for image_id, split in splits.items()]
    return sort_by_split(pd.DataFrame(rows, columns=IMAGE_COLUMNS)), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def _tars(options: WebDataset, paths: Paths) -> list[tuple[_SourceTar, str]]:
    """The tars with their splits; no split where images are drawn.

    Raises `InputError` for a split without a tar, and for a tar of two splits.
    """
    tars = [tar for source, path in paths.items() for tar in _source_tars(source, Path(path))]
    if options.files is None:
        return [(tar, "") for tar in tars]
    found: list[tuple[_SourceTar, str]] = [
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


def _source_tars(source: str, path: Path) -> Iterator[_SourceTar]:
    if not path.is_dir():
        yield _SourceTar(source, path.name, path, "")
        return
    for file in list_files(path, "*.tar"):
        name = file.relative_to(path).as_posix()
        yield _SourceTar(source, name, file, f"{name}/")


def _samples(archive: Archive, options: WebDataset) -> tuple[dict[str, str], dict[str, str]]:
    """The names of the pictures and of the files with sentences, by key. Raises `InputError` for two under one key."""
    pictures, texts = (
        names_by_key(((found[1], name) for name in archive.names() if (found := pattern.fullmatch(name))), archive.path)
        for pattern in map(_compile_suffixes, (_picture_suffixes(options), [f".{options.sentences}"]))
    )
    within = ((begin, name) for key, name in pictures.items() for begin in _beginnings(key) if begin in pictures)
    return names_by_key([*pictures.items(), *within], archive.path), texts


def _picture_suffixes(options: WebDataset) -> list[str]:
    return [f".{options.pictures}"] if options.pictures else sorted(SUFFIXES)


def _compile_suffixes(suffixes: Iterable[str]) -> re.Pattern[str]:
    """Finds the key of a name that ends in one of some suffixes, in any case."""
    return re.compile(f"(.+)(?:{'|'.join(map(re.escape, suffixes))})", re.IGNORECASE)


def _beginnings(key: str) -> Iterator[str]:
    """The parts of a key that end before a dot of its file name."""
    return (key[: dot.start()] for dot in re.finditer(r"\.(?!.*/)", key))


def _sentences(options: WebDataset, data: bytes, where: str) -> list[str | None]:
    if options.sentences != "json":
        return [line.strip() for _, line in numbered_lines(data, where, "utf-8")]
    try:
        found = json.loads(decode_text(data, where, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); obtain the tar again.") from None
    has_field = isinstance(found, Mapping) and options.field in found
    value = found[options.field] if has_field else None
    sentences = value if isinstance(value, list) else [value]
    if not has_field or not are_sentences(sentences):
        raise InputError(
            f"{where}: {options.field!r} holds {str(value)[:60]!a} instead of a sentence or a list of them; name "
            "another key as options.field."
        )
    return sentences

"""Writes tables of a person's own photographs without sentences, and sentences without photographs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from densevse.artifacts.archives import Archive
from densevse.artifacts.file_names import compose_accents
from densevse.artifacts.images import SUFFIXES, ImageFiles
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.sentences import clean_sentence
from densevse.datasets.readers import examine_images, quote_id, unreadable_message
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger

_SOURCE = "photographs"
_SPLIT = "test"
"""The split of a person's own data, from which nothing is learned."""


def write_photographs(photographs: str, threads: int, output: str | Path) -> None:
    """The job that writes the image table of the photographs in a folder (with subfolders), zip or tar.

    Each is decoded once. Photographs are recognised by their suffixes and named by their paths in the folder. What
    cannot be read is left out: the statement counts, as `left_out`, the other files of each suffix, and its `notes`
    name unreadable photographs and count hidden files. Raises `InputError` if no photograph can be read.
    """
    with Archive.open(photographs) as archive:
        names, hidden = archive.names(), len(archive.hidden)
    files = [name for name in names if PurePosixPath(name).suffix.lower() in SUFFIXES]
    others = map(PurePosixPath, set(names) - set(files))
    left_out = dict(sorted(Counter(path.suffix.lower() for path in others).items()))
    in_brackets = f" ({describe_counts(left_out)})" if left_out else ""
    if not files:
        raise InputError(
            f"{photographs}: no photographs in it, only {len(names)} other files{in_brackets}; their names must "
            f"end in one of {', '.join(sorted(SUFFIXES))}."
        )
    logger.info("%d photographs; %d other files are left out%s", len(files), len(names) - len(files), in_brackets)
    images = pd.DataFrame({"image_id": files, "source": _SOURCE, "file": files, "split": _SPLIT, "family": files})
    images["captions"] = pd.Series(0, images.index, "int32")
    examined, problems = examine_images(images, ImageFiles({_SOURCE: photographs}), threads)
    message = unreadable_message(examined, problems)
    if all(problems):
        raise InputError(f"{message}\nRemove them from {photographs}, or replace them.")
    unreadable = [quote_id(name) for name in examined.loc[examined["status"] != "ok", "image_id"]]
    notes = [f"Left out, as they are hidden or made by programs: {hidden:,} files."] if hidden else []
    if unreadable:
        logger.warning("%s\nThey are left out.", message)
        more = ", ..." if len(unreadable) > 20 else ""
        notes += [
            f"Left out, as they cannot be read: {len(unreadable):,} photographs, {', '.join(unreadable[:20])}{more}."
        ]
    schema.write(examined[examined["status"] == "ok"], IMAGES, output, left_out=left_out, notes=notes)


def write_sentences(sentences: Sequence[str], output: str | Path) -> None:
    """The job that writes sentences as a caption table without images; their ids are #0, #1 and so on."""
    rows = [
        {"caption_id": f"#{number}", "image_id": "", "position": number, "text": text, "split": _SPLIT}
        for number, text in enumerate(
            compose_accents(" ".join(clean_sentence(sentence).split())) for sentence in sentences
        )
    ]
    schema.write(rows, CAPTIONS, output)


def describe_counts(left_out: Mapping[str, int]) -> str:
    """Counts of files by suffix in words, such as `1 .cr2, 2 without a suffix`."""
    return ", ".join(f"{number:,} {suffix or 'without a suffix'}" for suffix, number in left_out.items())

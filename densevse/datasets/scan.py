"""Reads SCAN's folders of precomputed features (Lee et al., ECCV 2018): five sentences per image, and no pictures.

Sentence i of <split>_caps.txt belongs to image i // 5. <split>_ids.txt has a line for each image, or one for each
sentence with the id of its image.
"""

from pathlib import Path

import pandas as pd

from densevse.config.readers import Scan
from densevse.datasets.layout import CAPTION_COLUMNS, IMAGE_COLUMNS, Paths, read_lines
from snakeproof.errors import InputError

SENTENCES = 5
"""Sentences of an image."""


def read(options: Scan, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions of the source `precomp`.

    Raises `InputError` that names the file and line of a blank line, or the files whose numbers of lines do not match.
    """
    images, captions = [], []
    for split, name in (("train", "train"), ("val", "dev"), ("test", options.test)):
        sentences = _lines(paths["precomp"], f"{name}_caps.txt", options.encoding)
        ids = _ids(paths["precomp"], name, options.encoding, len(sentences))
        images += [(image, "precomp", f"{name}_ims.npy", split) for image in ids]
        captions += [(ids[number // SENTENCES], sentence) for number, sentence in enumerate(sentences)]
    return pd.DataFrame(images, columns=IMAGE_COLUMNS), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def _lines(folder: str, name: str, encoding: str) -> list[str]:
    """The lines of a file. None may be blank, as a line's place decides what it belongs to."""
    lines = read_lines(folder, name, encoding)
    for expected, (number, _) in enumerate(lines, start=1):
        if number != expected:
            raise InputError(
                f"{Path(folder, name)}, line {expected}: it is blank, but a line's place decides what it belongs to; "
                "fill it in, or remove the line from all files of the split."
            )
    return [text.strip() for _, text in lines]


def _ids(folder: str, name: str, encoding: str, sentences: int) -> list[str]:
    """The ids of a split's images, in order."""
    file, captions = Path(folder, f"{name}_ids.txt"), Path(folder, f"{name}_caps.txt")
    ids = _lines(folder, file.name, encoding)
    if sentences % SENTENCES:
        raise InputError(
            f"{captions}: {sentences:,} sentences, which are not {SENTENCES} for each image; sentence i must be of "
            f"image i // {SENTENCES}."
        )
    if len(ids) == sentences:
        ids = _deduplicate_ids(ids, file)
    if len(ids) != sentences // SENTENCES:
        raise InputError(
            f"{file}: {len(ids):,} lines, expected {sentences // SENTENCES:,}, one for each image of {captions.name}, "
            f"or {sentences:,}, one for each sentence."
        )
    twice = pd.Series(ids).loc[lambda found: found.duplicated()]
    if len(twice):
        image, known = int(twice.index[0]) + 1, twice.iloc[0]
        raise InputError(f"{file}: image {image} of the split has the id {known!r} of one before it; correct it.")
    return ids


def _deduplicate_ids(ids: list[str], file: Path) -> list[str]:
    """Ids that are repeated for each sentence, once for each image."""
    for first in range(0, len(ids), SENTENCES):
        found = sorted(set(ids[first : first + SENTENCES]))
        if len(found) > 1:
            raise InputError(
                f"{file}, line {first + 1}: it has a line for each sentence, so this one and the {SENTENCES - 1} after "
                f"it must be one image, found {found}."
            )
    return ids[::SENTENCES]

"""Reads tables of pairs: CSV, JSON lines, or Parquet, which may hold images as the Hugging Face Hub stores them.

A row is an image with a sentence, or with a list of its sentences; the rows of an image need not be neighbours. Errors
name the file and the row, from 1 and without the heading of a CSV.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.archives import Archive, bytes_columns, list_files
from densevse.artifacts.texts import decode_text, numbered_lines
from densevse.config.readers import PairTable
from densevse.config.values import Split
from densevse.datasets.layout import (
    CAPTION_COLUMNS,
    IMAGE_COLUMNS,
    SPLITS,
    ImageIndex,
    Paths,
    are_sentences,
    can_be_written,
    image_sources,
    is_plain_file,
    read_files,
    seeded_splits,
)
from snakeproof.errors import InputError

Cells = Mapping[str, Any]
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json_lines",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".parquet": "parquet",
}
"""The format of a table by the suffix of its file."""
DELIMITERS = (",", "\t", ";", "|")
"""Signs between the cells of a CSV, in the order in which they are tried."""


class _TableRow(NamedTuple):
    """A row of a table, with the file's split if files have one, and the image's place if the table holds it."""

    where: str
    cells: Cells
    split: str | None
    stored: str | None


class _NamedImage(NamedTuple):
    """An image as a row names it: its file, or the place of its bytes in the table."""

    file: str
    split: str
    is_stored: bool


def read(options: PairTable, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the source `pairs`: the table, or a folder or archive with it.

    Photographs are in the other sources, or in a Parquet table itself. Raises `InputError` for a row with a missing or
    invalid cell, and for an image to which two rows give different splits, files or bytes.
    """
    if "pairs" not in paths:
        raise InputError("the reader pairs needs a source `pairs`: the table, or a folder or archive with it.")
    images: dict[str, _NamedImage] = {}
    again: dict[str, list[str]] = {}  # places of the bytes of images in later rows
    captions: list[tuple[str, str | None]] = []
    for row in _rows(options, paths["pairs"]):
        image_id, image = _image(options, row)
        before = images.setdefault(image_id, image)
        if before.split != image.split or not (image.is_stored or before.file == image.file):
            raise InputError(
                f"{row.where}: image {image_id} is {image.file} in {image.split} here, and {before.file} in "
                f"{before.split} in a row before; give each image one file and one split."
            )
        if image.is_stored and image is not before:
            again.setdefault(image_id, []).append(image.file)
        captions += [(image_id, sentence) for sentence in _sentences(options, row)]
    _check_bytes({image_id: [images[image_id].file, *places] for image_id, places in again.items()}, paths["pairs"])
    if options.is_drawn:
        drawn = seeded_splits(images, options.sizes or split_shares(len(images)), options.seed)
        images = {image_id: images[image_id]._replace(split=split) for image_id, split in drawn.items()}
    return _image_frame(images, paths), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def check_first_lines(options: PairTable, paths: Paths) -> None:
    """Raises `InputError` if the table is there and lacks a column, or if its first row cannot be read."""
    if "pairs" in paths and Path(paths["pairs"]).exists():
        for row in islice(_rows(options, paths["pairs"]), 1):
            _image(options, row)


def split_shares(images: int) -> dict[Split, int]:
    """80, 10 and 10 percent of the images. Raises `InputError` for fewer than 10."""
    held_out = images // 10
    if not held_out:
        raise InputError(f"split: random needs 10 images or more, and the table has {images}; or name sizes.")
    return {"train": images - 2 * held_out, "val": held_out, "test": held_out}


def _check_bytes(places: Mapping[str, list[str]], source: str) -> None:
    """Raises `InputError` that names an id under which two pictures stand, by the places of their bytes."""
    if not places:
        return
    with Archive.open(source) as archive:
        for image_id, of_image in places.items():
            first, *others = (hashlib.sha256(archive.read(place)).digest() for place in of_image)
            for place, digest in zip(of_image[1:], others, strict=True):
                if digest != first:
                    raise InputError(
                        f"{source}: two pictures have the id {image_id!r}, {of_image[0]} and {place}; give each an id "
                        "of its own, or name another column as options.image_id."
                    )


def _image_frame(images: Mapping[str, _NamedImage], paths: Paths) -> pd.DataFrame:
    """The images, in the order of their first rows."""
    named = {image_id for image_id, image in images.items() if not image.is_stored}
    index = ImageIndex(image_sources(paths, {"pairs"})) if named else None
    rows = [
        (image_id, *(index.place(image.file) if index and image_id in named else ("pairs", image.file)), image.split)
        for image_id, image in images.items()
    ]
    return pd.DataFrame(rows, columns=IMAGE_COLUMNS)


def _image(options: PairTable, row: _TableRow) -> tuple[str, _NamedImage]:
    """The id of a row's image, and the row's data about it."""
    if row.stored and not options.image_id:
        raise InputError(
            f"{row.where}: the column {options.image} holds bytes; name the column of the ids as options.image_id."
        )
    file = row.stored or _text(row, options.image)
    image_id = _text(row, options.image_id) if options.image_id else file
    return image_id, _NamedImage(file, row.split or _split(options, row), row.stored is not None)


def _split(options: PairTable, row: _TableRow) -> str:
    if options.is_drawn:
        return ""
    found = _text(row, str(options.split))
    names: Mapping[str, str] = options.splits or {split: split for split in SPLITS}
    if found not in names:
        raise InputError(
            f"{row.where}: {found!r} in the column {options.split} is no split; known: {', '.join(names)}. Say in "
            "options.splits which split it is."
        )
    return names[found]


def _sentences(options: PairTable, row: _TableRow) -> list[str | None]:
    cell = row.cells.get(options.sentence)
    if options.sentences_as == "json" and isinstance(cell, str):
        try:
            cell = json.loads(cell.strip() or "null")  # pandas writes null so
        except (ValueError, RecursionError) as error:
            raise _cell_error(row, options.sentence, f"no JSON ({error})") from None
    sentences = [cell] if options.sentences_as == "text" or cell is None else cell
    if not are_sentences(sentences):
        kind = "text" if options.sentences_as == "text" else "a list of text"
        raise _cell_error(row, options.sentence, f"{str(cell)[:60]!a} instead of {kind} (see options.sentences_as)")
    return sentences


def _text(row: _TableRow, column: str) -> str:
    """A cell of text, or an integer as text."""
    cell = row.cells.get(column)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    if not (isinstance(cell, str) and cell.strip() and can_be_written(cell)):
        raise _cell_error(row, column, f"{str(cell)[:60]!a} instead of a name")
    return cell


def _cell_error(row: _TableRow, column: str, found: str) -> InputError:
    return InputError(f"{row.where}: the column {column} holds {found}; correct the row, or obtain the file again.")


def _rows(options: PairTable, source: str) -> Iterator[_TableRow]:
    """Every row of every file, in the order of the splits, then of the files' names."""
    if options.files and is_plain_file(source):
        raise InputError(
            f"{source}: options.files names a file for each split, so the source `pairs` must be the folder or archive "
            "that holds them."
        )
    if not (options.file or options.files or Path(source).is_file()):
        raise InputError(f"{source}: it may hold several files; name that of the table as options.file.")
    patterns: list[tuple[str | None, str]] = [*(options.files or {}).items()] or [(None, options.file or source)]
    for split, pattern in patterns:
        form = options.format or _file_format(source if is_plain_file(source) else pattern)
        if form == "parquet":
            yield from _parquet_rows(options, source, pattern, split)
            continue
        for name, data in read_files(source, pattern):
            where = name if name == source else f"{source}, {name}"
            of_format = _csv_rows if form == "csv" else _json_rows
            for row, cells in of_format(options, data, where):
                yield _TableRow(f"{where}, row {row}", cells, split, None)


def _file_format(name: str) -> str:
    """The format of a file by its suffix. Raises `InputError` for an unknown one."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{name}: the suffix is none of {', '.join(FORMATS)}; name the format as options.format, or unpack the "
            "file if it is compressed."
        )
    return FORMATS[suffix]


def _asked_columns(options: PairTable) -> list[str]:
    """The columns to read."""
    named = (options.image, options.image_id, options.sentence, None if options.is_drawn else options.split)
    return list(dict.fromkeys(column for column in named if column))


def _check_columns(options: PairTable, columns: list[str], where: str) -> None:
    missing = [column for column in _asked_columns(options) if column not in columns]
    if missing:
        raise InputError(
            f"{where}: no column {missing[0]!r}; it has {', '.join(columns[:20]) or 'none'}. Name its columns in the "
            "data set's options: image, image_id, sentence, split."
        )
    repeated = [column for column in _asked_columns(options) if columns.count(column) > 1]
    if repeated:
        raise InputError(f"{where}: the column {repeated[0]!r} occurs {columns.count(repeated[0])} times; rename one.")


def _csv_rows(options: PairTable, data: bytes, where: str) -> Iterator[tuple[int, Cells]]:
    text = decode_text(data, where, options.encoding)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # of a cell; Python's own is 131,072 characters
    lines = csv.reader(
        io.StringIO(text, newline=""), strict=True, delimiter=options.delimiter or _delimiter(options, text)
    )
    row = 0
    try:
        columns = next(lines, [])
        _check_columns(options, columns, where)
        for cells in filter(None, lines):
            row += 1
            if len(cells) != len(columns):
                raise InputError(f"{where}, row {row}: {len(cells)} cells under {len(columns)} columns; correct it.")
            yield row, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{where}, row {row + 1}: not CSV ({error}); correct it.") from None


def _delimiter(options: PairTable, text: str) -> str:
    """The sign that divides the heading into the columns that are asked for; if none does, into the most columns."""
    heading = text.lstrip("\r\n").splitlines()[:1]
    columns = {sign: next(csv.reader(heading, delimiter=sign), []) for sign in DELIMITERS}
    dividing = [sign for sign in DELIMITERS if {*_asked_columns(options)} <= {*columns[sign]}]
    return next(iter(dividing), max(DELIMITERS, key=lambda sign: len(columns[sign])))


def _json_rows(options: PairTable, data: bytes, where: str) -> Iterator[tuple[int, Cells]]:
    for row, line in numbered_lines(data, where, options.encoding):
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}, row {row}: not JSON ({error}); correct it.") from None
        if not isinstance(cells, dict):
            raise InputError(f"{where}, row {row}: expected an object in braces, found {line[:60]!a}.")
        _check_columns(options, list(cells), f"{where}, row {row}")
        yield row, cells


def _parquet_rows(options: PairTable, source: str, pattern: str, split: str | None) -> Iterator[_TableRow]:
    for path in _parquet_files(source, pattern):
        try:
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
                _check_columns(options, schema.names, str(path))
                stored = options.image in bytes_columns(schema)
                columns = [column for column in _asked_columns(options) if not (stored and column == options.image)]
                rows = file.read(columns=columns).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not readable as Parquet ({error}); obtain it again.") from None
        below = f"{path.relative_to(source).as_posix()}/" if Path(source).is_dir() else ""
        for row, cells in enumerate(rows, start=1):
            place = f"{below}{options.image}/{row}" if stored else None
            yield _TableRow(f"{path}, row {row}", cells, split, place)


def _parquet_files(source: str, pattern: str) -> list[Path]:
    """The files of a folder whose names match; or the source, if it is a file."""
    if Path(source).is_file():
        return [Path(source)]
    found = list_files(source, pattern)
    if not found:
        raise InputError(f"{source}: no file {pattern} in this folder; see the data set's options and its source.")
    return found

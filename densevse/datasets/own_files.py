"""A person's own files before any job reads them: which reader reads them, what they list, and whether they fit.

A new reader of an installed package may define, beside `read`,

    recognise(path, pictures) -> Layout | None   # the settings to read a file or folder; see `recognise_files`
    check_first_lines(options, paths)            # raises `InputError` as `read` does, after a look at the first lines

No job imports this module, so that nothing runs again when a layout is recognised in another way.
"""

import csv
import io
import json
import re
import tarfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.archives import Archive, bytes_columns, list_files
from densevse.artifacts.images import SUFFIXES
from densevse.artifacts.texts import decode_text
from densevse.config.datasets import Dataset, Reading
from densevse.config.readers import READERS
from densevse.config.values import DatasetName, Split
from densevse.datasets.layout import SPLITS, Paths, is_plain_file
from densevse.datasets.pairs import DELIMITERS, FORMATS, split_shares
from densevse.datasets.readers import implementation
from densevse.datasets.scan import SENTENCES
from snakeproof.errors import InputError


class Layout(NamedTuple):
    """The settings with which a reader reads a person's files, as it recognised them."""

    source: str  # the name of the recognised file or folder among the reader's sources
    options: Mapping[str, Any]
    seen: str  # what it is, in a few words
    entry: Mapping[str, Any] = {}  # further keys of the data set, if it has no pictures
    holds_pictures: bool = False  # true if there is no other source of pictures


SPLIT_WORDS: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""Words by which people call splits, in small letters."""


def find_split(name: str) -> Split | None:
    """The split whose word is in the name of a file or of its folder; None if there is none, or there are several."""
    words = re.findall(r"(?<![a-z])[a-z]+(?![a-z])", name)
    found = {SPLIT_WORDS[word] for word in words if word in SPLIT_WORDS}
    return found.pop() if len(found) == 1 else None


def group_by_split(names: Iterable[str]) -> dict[Split, list[str]]:
    """The names by the split that their words tell; none if one of the splits has no name."""
    found: dict[Split, list[str]] = {split: [] for split in get_args(Split)}
    for name in names:
        if split := find_split(name):
            found[split].append(name)
    return found if all(found.values()) else {}


def json_object(data: bytes) -> dict[str, Any]:
    """The object that a JSON file holds; empty for another file."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def file_pattern(names: Sequence[str]) -> str:
    """A name, or the pattern of several: their common beginning and suffix, with * between."""
    same = [letters[0] for letters in takewhile(lambda letters: len({*letters}) == 1, zip(*names, strict=False))]
    return names[0] if len(names) == 1 else f"{''.join(same)}*{PurePosixPath(names[0]).suffix}"


def named_texts(path: str, *suffixes: str) -> dict[str, Callable[[], bytes]]:
    """The files of a folder or archive that end in one of some suffixes, or the plain file; each is read on request."""
    if is_plain_file(path):
        return {path: Path(path).read_bytes} if path.lower().endswith(suffixes) else {}
    archive = Archive.open(path)
    return {name: partial(archive.read, name) for name in archive.names() if name.lower().endswith(suffixes)}


Recogniser: TypeAlias = Callable[[str, Collection[str]], Layout | None]


def list_dataset(reading: Reading, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The images and captions of a data set, as its reader lists them; no image is opened."""
    images, captions = implementation(reading.reader).read(reading.options, paths)
    return images, captions


def check_first_lines(datasets: Mapping[DatasetName, Dataset]) -> None:
    """Raises `InputError` that names a data set whose local table does not begin as its options say.

    Nothing is downloaded, and no image is opened.
    """
    for name, entry in datasets.items():
        check = getattr(implementation(entry.reader), "check_first_lines", None) if entry.local else None
        if check is not None:
            try:
                check(entry.options, entry.local)
            except InputError as error:
                raise InputError(f"datasets.{name}: {error}") from None


def recognise_coco(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read captions_*.json, alone or in a folder; None for other files."""
    for name, read_bytes in named_texts(path, ".json").items():
        content = json_object(read_bytes())
        first: dict[str, Any] = next(iter(content.get("annotations") or [{}]), {})
        if {"image_id", "caption"} <= first.keys() and content.get("images"):
            splits = split_shares(len(content["images"]))
            return Layout("annotations", {"splits": splits}, f"{PurePosixPath(name).name}, MS-COCO's JSON of captions")
    return None


def recognise_flickr(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read a folder or archive with a token file and a list for each split; None for others."""
    files = {} if is_plain_file(path) else named_texts(path, ".txt", ".token")
    begins = {
        PurePosixPath(name).name: read_bytes()[:1000].decode(errors="replace") for name, read_bytes in files.items()
    }
    tokens = [name for name, text in begins.items() if re.match(r"[^\t\n]+#\d+\t", text)]
    lists = [name for name, text in begins.items() if PurePosixPath(text.split("\n")[0].strip()).stem in pictures]
    splits = group_by_split(lists)
    if not tokens or any(len(names) > 1 for names in splits.values()) or not splits:
        return None
    token = min(tokens, key=len)  # Flickr8k.lemma.token.txt has lemmas
    options = {"captions": token, "splits": {split: name for split, (name,) in splits.items()}}
    return Layout("text", options, f"{token}, a token file, with a list of photographs for each split")


def recognise_karpathy(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read his file, or a folder with it; None for other files."""
    for name, read_bytes in named_texts(path, ".json").items():
        content = json_object(read_bytes())
        first: dict[str, Any] = next(iter(content.get("images") or [{}]), {})
        if {"filename", "split", "sentences"} <= first.keys():
            file = PurePosixPath(name).name
            return Layout("karpathy", {"karpathy": file}, f"{file}, Karpathy's JSON with sentences and splits")
    return None


NAMES: Mapping[str, str] = {
    "image": r"image|file_?name|file|image_?(name|file)|img|(image_|file_?)?path|photo(graph)?|picture",
    "sentence": r"sentences?|captions?|text|raw|description",
    "split": r"split|subset|partition",
    "image_id": r"(image_?|img_?)?id",
}
"""Option of the reader -> what people call its column, in small letters."""


def recognise_pairs(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read a table, or a folder with one or with one for each split; None for other files.

    `pictures` are the names of the person's pictures, without suffix. Raises `InputError` with the columns of a table
    in which none is known to hold images, or none sentences.
    """
    unclear = (".json", ".txt") if is_plain_file(path) else ()  # other readers have such files too
    tables = named_texts(path, ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", *unclear)
    by_split = group_by_split(PurePosixPath(name).name for name in tables)
    if len(tables) != 1 and not by_split:
        return None
    name, form = next(iter(tables)), FORMATS[PurePosixPath(next(iter(tables))).suffix.lower()]
    rows = _unchecked_rows(form, tables[name](), name)
    columns = {key: [row.get(key) for row in rows] for key in (rows[0] if rows else ())}
    chosen = _choose_columns(columns, pictures)
    if not {"image", "sentence"} <= chosen.keys():
        if name.endswith(unclear or "/"):
            return None
        raise InputError(
            f"{name}: a table with the columns {', '.join(columns) or '(none)'}, of which none is known to hold "
            f"{'sentences' if 'image' in chosen else 'the names of the photographs'}; call one image and one sentence."
        )
    stored = isinstance(columns[chosen["image"]][0], bytes)
    if stored and "image_id" not in chosen:
        raise InputError(f"{name}: the table holds its pictures, and no column is called image_id; name one so.")
    options: dict[str, Any] = {key: chosen[key] for key in ("image", "sentence", *(["image_id"] if stored else []))}
    options |= _sentences_as(columns[chosen["sentence"]])
    options |= _split_options(by_split, columns.get(chosen.get("split", ""), []), chosen.get("split"))
    options |= {} if by_split or is_plain_file(path) else {"file": PurePosixPath(name).name}
    return Layout("pairs", options, f"a table ({form}) with the columns {', '.join(columns)}", holds_pictures=stored)


def _choose_columns(columns: Mapping[str, list[Any]], pictures: Collection[str]) -> dict[str, str]:
    """Option -> its column: by its name, or of images and sentences by what it holds."""
    chosen: dict[str, str] = {}
    for option, pattern in NAMES.items():
        others = [column for column in columns if column not in chosen.values()]
        named = [column for column in others if re.fullmatch(pattern, column.strip().lower())]
        holding = [column for column in others if _holds(option, columns[column][:20], pictures)]
        both = [column for column in named if column in holding]
        if found := both or named or holding:
            chosen[option] = found[0]
    return chosen


def _unchecked_rows(form: str, data: bytes, name: str) -> list[dict[str, Any]]:
    """All rows of a table, whatever its columns; none for a file of another layout. Pictures are left out."""
    if form == "parquet":
        try:
            file = pq.ParquetFile(io.BytesIO(data))
            stored = bytes_columns(file.schema_arrow)
            rows = file.read([column for column in file.schema_arrow.names if column not in stored]).to_pylist()
            return [{**dict.fromkeys(stored, b""), **row} for row in rows]
        except pa.ArrowException as error:
            raise InputError(f"{name}: not readable as Parquet ({error}); obtain it again.") from None
    text = decode_text(data, name, "utf-8")
    if form == "csv":
        heading = text.lstrip("\r\n").splitlines()[:1]
        sign = max(DELIMITERS, key=lambda sign: len(next(csv.reader(heading, delimiter=sign), [])))
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=sign))
    try:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return []
    return rows if all(isinstance(row, dict) for row in rows) else []


def _holds(option: str, cells: list[Any], pictures: Collection[str]) -> bool:
    """True if cells are names of pictures; or ids, each another; or sentences: texts with blanks, or lists."""
    if option == "image":
        return all(isinstance(cell, str) and PurePosixPath(cell).stem in pictures for cell in cells)
    if option == "image_id":
        return all(isinstance(cell, str | int) for cell in cells) and len({*cells}) == len(cells)
    is_sentence = (isinstance(cell, list) or (isinstance(cell, str) and " " in cell.strip()) for cell in cells)
    return option == "sentence" and all(is_sentence)


def _sentences_as(cells: list[Any]) -> dict[str, str]:
    if any(isinstance(cell, list) for cell in cells):
        return {"sentences_as": "list"}
    is_json = all(isinstance(cell, str) and cell.startswith("[") and cell.rstrip().endswith("]") for cell in cells)
    return {"sentences_as": "json"} if is_json else {}


def _split_options(by_split: Mapping[Split, list[str]], cells: list[Any], column: str | None) -> dict[str, Any]:
    """The files of each split, or the column with its words, or a random draw."""
    if by_split:
        return {"files": {split: file_pattern(names) for split, names in by_split.items()}}
    words = {str(cell): SPLIT_WORDS.get(str(cell).lower(), str(cell)) for cell in dict.fromkeys(cells)}
    if column is None:
        return {"split": "random"}
    if others := [word for word, split in words.items() if split not in SPLITS]:
        raise InputError(f"the column {column} has {others[0]!r}, which is none of {', '.join(SPLITS)}; correct it.")
    return {"split": column} | ({"splits": words} if any(word != split for word, split in words.items()) else {})


def recognise_pascal(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read the page, or a folder or archive with a text for each picture; None for others."""
    if is_plain_file(path) and path.lower().endswith((".html", ".htm")):
        shown = len(re.findall(rb"""<img[^>]+src=["']?[^"'>]+/""", Path(path).read_bytes(), re.IGNORECASE))
        return Layout("sentences", {"splits": split_shares(shown)}, "Pascal1K's page") if shown else None
    texts = [] if is_plain_file(path) else [PurePosixPath(name).stem for name in named_texts(path, ".txt")]
    if not texts or not {*texts} <= {*pictures}:
        return None
    return Layout("sentences", {"splits": split_shares(len(texts))}, "a text with sentences for each photograph")


def recognise_scan(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read a folder of precomputed features; None for others."""
    vectors, lines = (Path(path, f"train_{name}") for name in ("ims.npy", "caps.txt"))
    if not (vectors.is_file() and lines.is_file()):
        return None
    rows, sentences = len(np.load(vectors, mmap_mode="r")), len(lines.read_bytes().splitlines())
    entry = {
        "features": {"given": {"regions": {"format": "scan"}, "whole_by": "mean"}},
        "networks": {"regions": "given", "whole": "given"},
    }
    options = {"copies": SENTENCES if rows == sentences else 1}
    return Layout("precomp", options, "SCAN's folder of precomputed regions", entry, holds_pictures=True)


def recognise_webdataset(path: str, pictures: Collection[str]) -> Layout | None:
    """The settings to read a tar, or a folder of tars, with a text or JSON beside each picture; None for others."""
    tars = {Path(path).name: Path(path)} if Path(path).is_file() else {}
    tars |= {file.relative_to(path).as_posix(): file for file in list_files(path, "*.tar")} if not tars else {}
    tars = {name: file for name, file in tars.items() if tarfile.is_tarfile(file)}
    splits = {split: file_pattern(names) for split, names in group_by_split(tars).items()}
    samples = 0
    options: dict[str, Any] = {}
    for file in tars.values():
        with Archive.open(file) as archive:
            bases = {PurePosixPath(name).suffix.lower(): name for name in archive.names()}
            if not (SUFFIXES & bases.keys() and {".txt", ".json"} & bases.keys()):
                return None
            if ".txt" not in bases:
                options = {"sentences": "json", **_sentence_field(archive.read(bases[".json"]))}
            samples += sum(PurePosixPath(name).suffix.lower() in SUFFIXES for name in archive.names())
    if not tars:
        return None
    options |= {"files": splits} if splits else {"splits": split_shares(samples)}
    return Layout("shards", options, f"{len(tars)} tars of samples, as img2dataset writes them", holds_pictures=True)


def _sentence_field(data: bytes) -> dict[str, str]:
    """The option that names the key of sentences in a JSON file, if it is not the usual one."""
    found = json_object(data)
    known = [key for key in ("caption", "captions", "sentence", "sentences", "text", "raw") if found.get(key)]
    return {"field": known[0]} if known[:1] not in ([], ["caption"]) else {}


_RECOGNISERS: Mapping[str, Recogniser] = {
    "coco": recognise_coco,
    "flickr": recognise_flickr,
    "karpathy": recognise_karpathy,
    "pairs": recognise_pairs,
    "pascal": recognise_pascal,
    "scan": recognise_scan,
    "webdataset": recognise_webdataset,
}


def recognise_files(path: str, pictures: Collection[str]) -> dict[str, Layout]:
    """Reader -> the settings with which it reads a file, folder or archive.

    `pictures` are the names of all pictures of the person, without folder and suffix. Raises `InputError` for a file
    that a reader would read, but for what its message says.
    """
    readers = {name: _RECOGNISERS.get(name) or getattr(implementation(name), "recognise", None) for name in READERS}
    found = {name: recognise(path, pictures) for name, recognise in readers.items() if recognise}
    return {name: layout for name, layout in found.items() if layout}

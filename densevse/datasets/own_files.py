"""A person's own files before any job reads them: which reader reads them, what they list, and whether they fit.

A new reader of an installed package may define, beside `read`,

    recognise(path, pictures) -> OwnLayout | None   # the settings to read a file or folder; see `recognise_files`
    check_first_lines(options, paths)            # raises `InputError` as `read` does, after a look at the first lines

No job imports this module, so that nothing runs again when a layout is recognised in another way.
"""

import csv
import io
import json
import re
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from densevse.artifacts.archives import Archive, bytes_columns, list_files
from densevse.artifacts.images import SUFFIXES
from densevse.artifacts.texts import decode_text
from densevse.config.datasets import Dataset, Reading
from densevse.config.readers import READERS
from densevse.config.values import DatasetName, Split
from densevse.datasets.layout import SPLITS, Paths, is_plain_file
from densevse.datasets.pairs import DELIMITERS, FORMATS, split_shares
from densevse.datasets.pascal import read_sentences
from densevse.datasets.readers import implementation
from densevse.datasets.scan import SENTENCES
from snakeproof.errors import InputError


def list_dataset(reading: Reading, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The images and captions of a data set, as its reader lists them; no image is opened."""
    images, captions = implementation(reading.reader).read(reading.options, paths)
    return images, captions


def check_first_lines(datasets: Mapping[DatasetName, Dataset], read: Collection[str | None]) -> None:
    """Raises `InputError` that names a data set whose local table does not begin as its options say, of those `read`.

    Nothing is downloaded, and no image is opened.
    """
    for name, entry in datasets.items():
        is_own = entry.local and name in read
        check = getattr(implementation(entry.reader), "check_first_lines", None) if is_own else None
        if check is not None:
            try:
                check(entry.options, entry.local)
            except InputError as error:
                raise InputError(f"datasets.{name}: {error}") from None


class OwnLayout(NamedTuple):
    """The settings with which a reader reads a person's files, as it recognised them."""

    source: str  # the name of the recognised file or folder among the reader's sources
    options: Mapping[str, Any]
    seen: str  # what it is, in a few words
    holds_pictures: bool = False  # true if there is no other source of pictures
    entry: Mapping[str, Any] = {}  # further keys of a data set without pictures


def recognise_files(path: str, pictures: Collection[str]) -> dict[str, OwnLayout]:
    """Reader -> the settings with which it reads a file, folder or archive.

    `pictures` are the names of all pictures of the person, without folder and suffix. Raises `InputError` for a file
    that a reader would read, but for what its message says.
    """
    found = {
        name: getattr(implementation(name), "recognise", _RECOGNISERS.get(name, _recognise_nothing))(path, pictures)
        for name in READERS
    }
    known = {name: layout for name, layout in found.items() if layout}
    whole = {name: layout for name, layout in known.items() if layout.holds_pictures}
    return whole or known  # a tar of samples has a text for each photograph too, as Pascal1K has


def _recognise_nothing(path: str, pictures: Collection[str]) -> None:
    """Stands for the recogniser of a reader that has none."""


def recognise_coco(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """captions_*.json, alone or several in a folder, all of which the reader reads."""
    counted = [
        (len(content["images"]), {"image_id", "caption"} <= _first_keys(content, "annotations"))
        for _, content in _json_files(path, "captions_*.json")
        if isinstance(content.get("images"), list)
    ]
    if not any(images and has_captions for images, has_captions in counted):
        return None
    options = {"splits": split_shares(sum(images for images, _ in counted))}
    return OwnLayout("annotations", options, "captions in MS-COCO's JSON")


def recognise_karpathy(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """Karpathy's file, alone or in a folder."""
    for name, content in _json_files(path):
        if {"filename", "split", "sentences"} <= _first_keys(content, "images"):
            return OwnLayout("karpathy", {"karpathy": name}, "sentences and splits in Karpathy's JSON")
    return None


def recognise_flickr(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """A folder or archive with a token file, and a list of photographs for each split."""
    files = {} if is_plain_file(path) else _texts(path, ".txt", ".token")
    begins = {PurePosixPath(name).name: read()[:1000].decode(errors="replace") for name, read in files.items()}
    tokens = [name for name, text in begins.items() if re.match(r"[^\t\n]+#\d+\t", text)]
    lists = _group_by_split(name for name, text in begins.items() if _stem(text.partition("\n")[0]) in pictures)
    if not tokens or not lists or any(len(names) > 1 for names in lists.values()):
        return None
    token = min(tokens, key=len)  # Flickr8k.lemma.token.txt has lemmas
    options = {"captions": token, "splits": {split: name for split, (name,) in lists.items()}}
    return OwnLayout("text", options, f"the token file {token} and a list of photographs for each split")


def recognise_pascal(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """The page of Pascal1K, or a folder or archive with a text for each picture."""
    is_page = is_plain_file(path) and path.endswith((".html", ".htm"))
    texts = {} if is_plain_file(path) else _texts(path, ".txt")
    if not (is_page or texts) or not {*map(_stem, texts)} <= {*pictures}:
        return None
    options = {"splits": split_shares(len(read_sentences(path)))}
    return OwnLayout("sentences", options, "a text with sentences for each photograph")


def recognise_scan(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """A folder of precomputed features of regions."""
    vectors, lines = (Path(path, f"train_{name}") for name in ("ims.npy", "caps.txt"))
    if not (vectors.is_file() and lines.is_file()):
        return None
    repeated = len(np.load(vectors, mmap_mode="r")) == len(lines.read_bytes().splitlines())
    entry = {
        "features": {"given": {"regions": {"format": "scan"}, "whole_by": "mean"}},
        "networks": {"regions": "given", "whole": "given"},
    }
    return OwnLayout("precomp", {"copies": SENTENCES if repeated else 1}, "SCAN's folder of features", True, entry)


def recognise_webdataset(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """A tar, or a folder of tars, with a text or JSON beside each picture."""
    folder = Path(path).is_dir()
    files = {file.relative_to(path).as_posix(): file for file in list_files(path, "*.tar")} if folder else {}
    files |= {Path(path).name: Path(path)} if not folder and tarfile.is_tarfile(path) else {}
    names = [(file, name) for file in files.values() for name in Archive.open(file).names()]
    last = {PurePosixPath(name).suffix.lower(): (file, name) for file, name in names}
    if not (SUFFIXES & last.keys() and {".txt", ".json"} & last.keys()):
        return None
    options: dict[str, Any] = {}
    if ".txt" not in last:
        file, name = last[".json"]
        fields = _json_object(Archive.open(file).read(name))
        known = [key for key in fields if re.fullmatch(COLUMNS["sentence"], key)]
        options = {"sentences": "json", "field": ["caption", *known][-1 if "caption" not in known else 0]}
    by_split = _group_by_split(files)
    samples = sum(PurePosixPath(name).suffix.lower() in SUFFIXES for _, name in names)
    options |= {"files": _patterns(path, by_split, files)} if by_split else {"splits": split_shares(samples)}
    return OwnLayout("shards", options, f"{len(files)} tars of samples, as img2dataset writes them", True)


COLUMNS: Mapping[str, str] = {
    "image": r"image|file_?name|file|image_?(name|file)|img|(image_|file_?)?path|photo(graph)?|picture",
    "sentence": r"sentences?|captions?|text|raw|description",
    "split": r"split|subset|partition",
    "image_id": r"(image_?|img_?)?id",
}
"""Option of the reader `pairs` -> what people call its column, in small letters."""


def recognise_pairs(path: str, pictures: Collection[str]) -> OwnLayout | None:
    """A table, or a folder with one or with one for each split.

    Raises `InputError` with the columns of a table in which none is known to hold images, or none sentences.
    """
    unclear = (".json", ".txt")  # other readers have such files too
    tables = _texts(path, *(FORMATS if is_plain_file(path) else FORMATS.keys() - {*unclear}))
    possible = {name: read for name, read in _texts(path, *unclear).items() if not _describes_others(name)}
    tables = tables or (possible if len(possible) == 1 else {})
    names = [PurePosixPath(name).name for name in tables]
    by_split = _group_by_split(names)
    if not tables or (len(tables) > 1 and not by_split):
        return None
    name, read_bytes = next(iter(tables.items()))
    columns = _read_columns(name, read_bytes())
    chosen = _choose_columns(columns, pictures)
    stored = "image" in chosen and isinstance(columns[chosen["image"]][0], bytes)
    if lacking := [key for key in ("image", "sentence", *(["image_id"] if stored else [])) if key not in chosen]:
        if name.lower().endswith(unclear):
            return None
        raise InputError(
            f"{name}: a table with the columns {', '.join(columns) or '(none)'}, of which none is known as that of the "
            f"option {lacking[0]}; name the columns image (the photograph's file) and sentence."
        )
    used = {column for key, column in chosen.items() if key != "image_id" or stored}
    others = _list_sentence_columns({name: cells for name, cells in columns.items() if name not in used}, pictures)
    if others and not re.fullmatch(COLUMNS["sentence"], chosen["sentence"].strip().lower()):
        raise InputError(
            f"{name}: the columns {', '.join([chosen['sentence'], *others])} all hold sentences, and one is read. Give "
            "each sentence a row of its own, or write those of an image as a list; or call the right column sentence."
        )
    options = {key: column for key, column in chosen.items() if key != "split" and (key != "image_id" or stored)}
    options |= _sentences_as(columns[chosen["sentence"]])
    split = chosen.get("split")
    drawn = {} if by_split else _split_options(split, columns[split] if split else [])
    divided = {"files": _patterns(path, by_split, names)} if by_split else drawn
    named = {} if by_split or is_plain_file(path) else {"file": names[0]}
    unread = f"; {', '.join(others)} may hold sentences too, and {chosen['sentence']} alone is read" if others else ""
    seen = f"a table with the columns {', '.join(columns)}{unread}"
    return OwnLayout("pairs", {**options, **divided, **named}, seen, stored)


def _list_sentence_columns(columns: Mapping[str, list[Any]], pictures: Collection[str]) -> list[str]:
    """The columns that hold sentences where they hold anything."""
    found = {name: [cell for cell in cells if cell][:20] for name, cells in columns.items()}
    return [name for name, cells in found.items() if cells and _holds("sentence", cells, pictures)]


def list_possible_tables(path: str) -> list[str]:
    """The files of a folder or archive that may hold sentences, by their names."""
    names = [] if is_plain_file(path) else Archive.open(path).names()
    ends = (*FORMATS, ".html", ".htm")
    return [name for name in names if name.lower().endswith(ends) and not _describes_others(name)]


def _describes_others(name: str) -> bool:
    return re.match(r"(read.?me|licen[cs]e|copying)\b", PurePosixPath(name).name.lower()) is not None


def _choose_columns(columns: Mapping[str, list[Any]], pictures: Collection[str]) -> dict[str, str]:
    """Option -> its column: one that has its name and holds it, else one of both."""
    chosen: dict[str, str] = {}
    for option, pattern in COLUMNS.items():
        others = [column for column in columns if column not in chosen.values()]
        named = [column for column in others if re.fullmatch(pattern, column.strip().lower())]
        holding = [column for column in others if _holds(option, columns[column][:20], pictures)]
        if found := [column for column in named if column in holding] or named or holding:
            chosen[option] = found[0]
    return chosen


def _holds(option: str, cells: list[Any], pictures: Collection[str]) -> bool:
    """True if cells are names of pictures; or ids, each another; or sentences: texts with blanks, or lists."""
    if option == "image":
        return all(isinstance(cell, str) and _stem(cell) in pictures for cell in cells)
    if option == "image_id":
        return all(isinstance(cell, str | int) for cell in cells) and len({*cells}) == len(cells)
    return option == "sentence" and all(isinstance(cell, list) or " " in str(cell).strip() for cell in cells)


def _read_columns(name: str, data: bytes) -> dict[str, list[Any]]:
    """Column -> its cells, of which pictures are left out; nothing for JSON of another layout."""
    form, rows = FORMATS[PurePosixPath(name).suffix.lower()], list[Mapping[str, Any]]()
    if form == "parquet":
        file = pq.ParquetFile(io.BytesIO(data))
        stored = bytes_columns(file.schema_arrow)
        rows = file.read([column for column in file.schema_arrow.names if column not in stored]).to_pylist()
        rows = [{**dict.fromkeys(stored, b""), **row} for row in rows]
    elif form == "csv":
        text = decode_text(data, name, "utf-8").lstrip("\r\n")
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        sign = max(DELIMITERS, key=lambda sign: text.partition("\n")[0].count(sign))
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=sign))
    else:
        rows = [_json_object(line) for line in data.splitlines() if line.strip()]
    return {str(key): [row.get(key) for row in rows] for key in (rows[0] if rows else ())}


def _sentences_as(cells: list[Any]) -> dict[str, str]:
    if any(isinstance(cell, list) for cell in cells):
        return {"sentences_as": "list"}
    return {"sentences_as": "json"} if all(str(cell)[:1] + str(cell)[-1:] == "[]" for cell in cells) else {}


def _split_options(column: str | None, cells: list[Any]) -> dict[str, Any]:
    """The column of the split with what its words mean, or a random draw."""
    if column is None:
        return {"split": "random"}
    words = {str(cell): SPLIT_WORDS.get(str(cell).lower(), str(cell)) for cell in dict.fromkeys(cells)}
    if others := [word for word, split in words.items() if split not in SPLITS]:
        raise InputError(f"the column {column} has {others[0]!r}, which is none of {', '.join(SPLITS)}; correct it.")
    return {"split": column} | ({"splits": words} if any(word != split for word, split in words.items()) else {})


SPLIT_WORDS: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""Words by which people call splits, in small letters."""


def _group_by_split(names: Iterable[str]) -> dict[Split, list[str]]:
    """The names by the one split that their words tell; none if a split has no name."""
    found: dict[Split, list[str]] = {split: [] for split in get_args(Split)}
    for name in names:
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
        splits = {SPLIT_WORDS.get(word.lower()) for word in words} - {None}
        for split in splits if len(splits) == 1 else ():
            found[split].append(name)  # type: ignore[index]
    return found if all(found.values()) else {}


def _patterns(path: str, by_split: Mapping[Split, Sequence[str]], files: Collection[str]) -> dict[str, str]:
    """Split -> the name of its file, or a pattern with * that of all files its own match, and no others.

    Raises `InputError` that names the files of a split that has none.
    """

    def find_pattern(split: Split, names: Sequence[str]) -> str:
        suffix = PurePosixPath(names[0]).suffix
        stems = [name.removesuffix(suffix) for name in names]
        begin, end = _beginning(stems), _beginning([stem[::-1] for stem in stems])[::-1]
        for pattern in (f"{begin}*{suffix}", f"*{end}{suffix}", f"{begin}*{end}{suffix}"):
            if {file for file in files if fnmatch(file.lower(), pattern.lower())} == {*names}:
                return pattern
        raise InputError(
            f"{path}: not understood: no name with * is that of {', '.join(names[:5])} ({split}) alone; rename them, "
            f"such as {split}-1{suffix}."
        )

    unique = {split: sorted({*names}) for split, names in by_split.items()}
    return {split: names[0] if len(names) == 1 else find_pattern(split, names) for split, names in unique.items()}


def _beginning(words: Sequence[str]) -> str:
    """The letters with which all words begin."""
    return "".join(one for one, *_ in takewhile(lambda letters: len({*letters}) == 1, zip(*words, strict=False)))


def _texts(path: str, *suffixes: str) -> dict[str, Callable[[], bytes]]:
    """The files of a folder or archive that end in one of some suffixes, or the plain file; each is read on request."""
    if is_plain_file(path):
        return {path: Path(path).read_bytes} if path.lower().endswith(suffixes) else {}
    archive = Archive.open(path)
    return {name: partial(archive.read, name) for name in archive.names() if name.lower().endswith(suffixes)}


def _json_files(path: str, pattern: str = "*") -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and object of each JSON file whose name matches; a plain file matches whatever its name."""
    asked = "*" if is_plain_file(path) else pattern
    files = ((PurePosixPath(place).name, read) for place, read in _texts(path, ".json").items())
    return ((name, _json_object(read())) for name, read in files if fnmatch(name.lower(), asked))


def _json_object(data: bytes) -> dict[str, Any]:
    """The object that JSON holds; empty for anything else."""
    with suppress(ValueError, RecursionError):
        found = json.loads(data)
        return found if isinstance(found, dict) else {}
    return {}


def _first_keys(content: Mapping[str, Any], key: str) -> set[str]:
    """The keys of the first object in a list."""
    found = content.get(key)
    return {*found[0]} if isinstance(found, list) and found and isinstance(found[0], dict) else set()


def _stem(name: str) -> str:
    return PurePosixPath(name.strip()).stem


_RECOGNISERS: Mapping[str, Callable[[str, Collection[str]], OwnLayout | None]] = {
    "coco": recognise_coco,
    "flickr": recognise_flickr,
    "karpathy": recognise_karpathy,
    "pairs": recognise_pairs,
    "pascal": recognise_pascal,
    "scan": recognise_scan,
    "webdataset": recognise_webdataset,
}

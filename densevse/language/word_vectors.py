"""Reads pre-trained word vectors: those of the vocabulary, from a file of millions of words, in one pass."""

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.schemas.sentences import WORD_VECTORS
from densevse.language.words import Vocabulary
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger

BYTES_AT_ONCE = 1 << 20  # bytes read at a time
_LONGEST = 1 << 20  # bytes, more than any word or line has; a compression bomb is not unpacked beyond it

HEADING = re.compile(rb"\d+[ \t]+\d+\s*")
_NUMBERS = re.compile(rb"\S+([ \t]+[-+]?\d[-+.\deE]*)+\s")
"""A word and its numbers as text, to the end of a line or of the buffer."""
CONTROLS = bytes(sorted({*range(32), 127} - {*b"\t\n\r"}))

Vector = NDArray[np.float32]
Record = tuple[bytes, bytes | list[bytes], str]  # a word, its numbers (float32, or as text), and their place


def write_word_vectors(
    words: str, vectors: str, settings: Mapping[str, Any], wildcards: Mapping[str, Any], output: str
) -> None:
    """The job that writes a vocabulary's vectors as WORD_VECTORS, in the vocabulary's order.

    `settings` are format (word2vec or glove), dimension and, for a .zip, member; the wildcard `vectors` is their name.
    Words are looked up in lower case. Raises `InputError` if the file `vectors` is damaged, of another dimension, or
    has none of the words.
    """
    known, dimension = Vocabulary.read(words).words, settings["dimension"]
    found = read_vectors(vectors, set(known), settings["format"], dimension, settings.get("member"))
    if not found:
        raise InputError(f"{vectors}: has none of the {len(known)} words of {words}; is the format right?")
    logger.info("%s: vectors for %d of %d words", wildcards["vectors"], len(found), len(known))
    unknown = np.zeros(dimension, np.float32)
    rows = {
        "index": range(2, 2 + len(known)),
        "word": known,
        "found": [word in found for word in known],
        "vector": [found.get(word, unknown) for word in known],
    }
    schema.write(pd.DataFrame(rows), WORD_VECTORS, output)


def read_vectors(
    path: str | Path, words: set[str], format: str, dimension: int, member: str | None = None
) -> dict[str, Vector]:
    """The vectors, (dimension,) float32, of those `words` that a file has; for a repeated word, the first.

    The file may be compressed (.gz, or .zip with the `member` to read). Memory does not grow with the file.
    """
    reader = {"word2vec": _read_word2vec, "glove": _read_glove}[format]
    wanted = {word.encode(): word for word in words}
    found: dict[str, Vector] = {}
    try:
        with _open_vectors(Path(path), member) as file:
            for key, data, where in reader(file, path, dimension):
                word = wanted.get(key)
                if word is not None and word not in found:
                    found[word] = _vector(data, dimension, f"{path}: {where}")
    # zipfile raises the last two for encrypted files and for unknown compression methods.
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{path}: cannot be read to its end ({error}); obtain it again.") from error
    return found


def _vector(data: bytes | list[bytes], dimension: int, where: str) -> Vector:
    try:
        vector = np.frombuffer(data, "<f4") if isinstance(data, bytes) else np.array(data).astype(np.float32)
    except ValueError as error:
        raise InputError(f"{where}: not {dimension} numbers ({error}).") from error
    if not np.isfinite(vector).all():
        raise InputError(f"{where}: its vector is not finite.")
    return vector


def _read_glove(file: IO[bytes], path: str | Path, dimension: int) -> Iterator[Record]:
    """Yields a word, its numbers and its line for each line `word number number ...`; a word may hold spaces.

    A heading `words dimension`, as fastText and gensim write it, is compared with the rest.
    """
    first, rest = file.readline(_LONGEST).removeprefix(codecs.BOM_UTF8), iter(partial(file.readline, _LONGEST), b"")
    _check_is_text(first, path)
    heading = dimension > 1 and HEADING.fullmatch(first) is not None
    words = _heading(first, path, dimension) if heading else 0
    line = 1
    for line, text in enumerate(rest if heading or not first else chain([first], rest), start=1 + heading):
        fields = text.rstrip(b"\r\n\t ").replace(b"\t", b" ").rsplit(b" ", dimension)
        if len(fields) != dimension + 1:
            _check_is_text(text, path)
            raise InputError(
                f"{path}: line {line} has {len(fields) - 1} numbers instead of {dimension}; correct the "
                "`dimension` in config/word_vectors, or obtain the file again if it is cut off."
            )
        yield fields[0], fields[1:], f"line {line}"
    if line - 1 < words:
        raise InputError(f"{path}: its heading says {words} words, and {line - 1} follow; obtain it again.")


def _heading(text: bytes, path: str | Path, dimension: int) -> int:
    """The number of words that a heading states. Raises `InputError` for vectors of another dimension."""
    count, stated = map(int, text.split())
    if stated != dimension:
        raise InputError(f"{path}: its vectors have {stated} numbers; set `dimension: {stated}`.")
    return count


def _check_is_text(line: bytes, path: str | Path) -> None:
    """Raises `InputError` that describes a file if its line is not text in UTF-8."""
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path}: text in UTF-16; save it in UTF-8.")
    if line.translate(None, CONTROLS) != line:
        raise InputError(
            f"{path}: a binary file, not text with a word and its numbers in each line; for word2vec's binary format "
            "set `format: word2vec`, and save that of another program as text first."
        )


def _read_word2vec(file: IO[bytes], path: str | Path, dimension: int) -> Iterator[Record]:
    """Yields a word, the bytes of its float32 numbers and its place; the heading is `words dimension`."""
    header = file.readline(100).split()
    if len(header) != 2 or not all(field.isdigit() for field in header):
        raise InputError(f"{path}: not a word2vec binary file: it does not begin with two numbers.")
    if int(header[1]) != dimension:
        raise InputError(f"{path}: its vectors have {int(header[1])} numbers; set `dimension: {int(header[1])}`.")
    count, size = int(header[0]), 4 * dimension
    buffer, position = file.read(BYTES_AT_ONCE), 0
    start = buffer[:1000]
    if start.translate(None, CONTROLS) == start and _NUMBERS.match(start):
        raise InputError(
            f"{path}: text, not word2vec's binary format; set `format: glove`, which reads its heading too."
        )
    for record in range(1, count + 1):
        space = buffer.find(b" ", position)
        while space < 0 or len(buffer) < space + 1 + size:
            more = file.read(BYTES_AT_ONCE)
            if not more or (space < 0 and len(buffer) - position > _LONGEST):
                raise InputError(f"{path}: cut off in word {record} of {count}; obtain it again.")
            buffer, position = buffer[position:] + more, 0
            space = buffer.find(b" ")
        end = space + 1 + size
        yield buffer[position:space].lstrip(b"\n"), buffer[space + 1 : end], f"word {record}"
        position = end


@contextmanager
def _open_vectors(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    if path.suffix == ".gz":
        with io.BufferedReader(gzip.open(path, "rb")) as file:
            yield file
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(_member(path, archive.namelist(), member)) as file:
            yield file
    else:
        with path.open("rb") as file:
            yield file


def _member(path: Path, names: list[str], member: str | None) -> str:
    if member is None and len(names) == 1:
        return names[0]
    if member not in names:
        raise InputError(f"{path}: no file {member!r} in it; let `member` be one of {names}.")
    return member

"""Damages one file after the other, and records each reader's outcome."""

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator

from snakeproof.errors import InputError
from tests.system.fuzz.readers import Target

VALID, REFUSED, UNNAMED = "read", "refused by name", "refused without the file's name"
Mutation = Callable[[bytes, Generator], bytes]

TOKENS = (
    b"", b"null", b"-1", b"1e999", b"NaN", b'"\\ud83d"', b"[]", b"{}", b"\x00", b"\xff\xfe", b"\r", b"\t", b"../../x",
    b"9" * 5000, b"[" * 2000, b"\xe2\x80\xa8", b"<!DOCTYPE [", b"<![x", b"'", b'"', b"\\", b"%", b"# ", b"0", b"#",
)  # fmt: skip


def truncate(data: bytes, random: Generator) -> bytes:
    """The start of a file only, as after a broken download."""
    return data[: int(random.integers(0, len(data)))]


def flip(data: bytes, random: Generator) -> bytes:
    """A few bytes replaced by others."""
    changed = bytearray(data)
    for place in random.integers(0, len(data), int(random.integers(1, 9))):
        changed[place] = int(random.integers(256))
    return bytes(changed)


def replace_word(data: bytes, random: Generator) -> bytes:
    """A word, number or mark replaced by something that may confuse a program."""
    start = int(random.integers(0, len(data)))
    end = start + int(random.integers(0, 12))
    return data[:start] + TOKENS[int(random.integers(len(TOKENS)))] + data[end:]


def repeat(data: bytes, random: Generator) -> bytes:
    """A piece that is repeated."""
    start, end = sorted(random.integers(0, len(data) + 1, 2).tolist())
    return data[:end] + data[start:]


def remove(data: bytes, random: Generator) -> bytes:
    """A piece that is missing."""
    start, end = sorted(random.integers(0, len(data) + 1, 2).tolist())
    return data[:start] + data[end:]


def swap_lines(data: bytes, random: Generator) -> bytes:
    """Two lines that change places."""
    lines = data.split(b"\n")
    one, two = random.integers(0, len(lines), 2)
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def recode(data: bytes, random: Generator) -> bytes:
    """The same text in another encoding, or with other ends of lines."""
    text = data.decode("latin-1")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode("utf-16"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.upper(),
    )
    return ways[int(random.integers(len(ways)))]()


MUTATIONS: tuple[Mutation, ...] = (truncate, flip, replace_word, repeat, remove, swap_lines, recode)


def spoil(data: bytes, random: Generator) -> bytes:
    """The bytes of a file after one to three mutations."""
    for _ in range(int(random.integers(1, 4))):
        data = MUTATIONS[int(random.integers(len(MUTATIONS)))](data or b"\n", random)
    return data


def outcome(target: Target, seed: int) -> str:
    """The outcome of damaging the target's file with this seed; the name of an unexpected error."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in target.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(spoil(data, np.random.default_rng(seed)) if name == target.spoilt else data)
        try:
            target.read(Path(folder))
        except InputError as error:
            return REFUSED if names_a_file(str(error), target, folder) else f"{UNNAMED}: {error}"
        except Exception as error:  # the fuzz is there to find which
            return f"{type(error).__name__}: {error}"
    return VALID


def names_a_file(message: str, target: Target, folder: str) -> bool:
    """True if a message names the damaged file, or an option or another file of the data set that refers to it."""
    names = {Path(name).name for name in target.files} | {folder, "options.", "image ids", "no image that a split"}
    return any(name in message for name in names)


def outcomes(target: Target, seeds: range) -> Counter[str]:
    """The number of each outcome."""
    return Counter(outcome(target, seed) for seed in seeds)

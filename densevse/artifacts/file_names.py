"""Plain names of files: / between folders, accents composed (NFC), valid text, however a system encoded them."""

import os
import re
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from snakeproof.errors import InputError

UTF_8 = 0x800
"""The flag of a zip's member whose name is in UTF-8."""

UNPRINTABLE = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")
"""A control character in a name, or a byte that is not UTF-8, as Python holds it."""

ESCAPED = re.compile("%[0-9A-F]{2}")
"""The replacement for such a character in a plain name."""

Member = TypeVar("Member")


def plain_name(name: str) -> str:
    """A file's plain name; a line break or a byte that is not UTF-8 becomes % and two hexadecimal digits."""
    slashed = name.replace("\\", "/").removeprefix("./")
    return compose_accents(UNPRINTABLE.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", slashed))


def compose_accents(text: str) -> str:
    """Text in which each accent and its letter are one character, if such a character exists (NFC)."""
    return unicodedata.normalize("NFC", text)


def members_by_name(path: Path, named: Iterable[tuple[str, Member]]) -> dict[str, Member]:
    """The members of an archive by plain name; of several with the same name the last, as archives define it.

    Raises `InputError` for different names with the same plain name.
    """
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    for name, member in named:
        found = plain_name(name)
        if _is_of_a_mac(found):
            continue
        if names.setdefault(found, name.removeprefix("./")) != name.removeprefix("./"):
            raise InputError(
                f"{path}: two of its files are called {found}, as {names[found]!a} and {name!a}; leave only "
                "one of them, or rename one."
            )
        members[found] = member
    return members


def letters(name: str) -> str:
    """The part of a file's name that does not depend on encodings and suffixes."""
    return re.sub(f"{ESCAPED.pattern}|[^ -~]", "", PurePosixPath(name).stem).casefold()


def decode_name(name: str) -> str:
    """A file's name decoded from its bytes as UTF-8, whatever encoding the system uses."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def zip_name(info: zipfile.ZipInfo) -> str:
    """A zip member's name. Many programs write UTF-8 without its flag, and Python then decodes it as cp437."""
    if info.flag_bits & UTF_8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _is_of_a_mac(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name.startswith("._") or "__MACOSX" in path.parts

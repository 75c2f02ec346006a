"""Plain names of files: / between folders, accents composed (NFC), valid text, however a system encoded them."""

import os
import re
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeVar

from snakeproof.errors import InputError
from snakeproof.logs import logger

UTF_8 = 0x800
"""The flag of a zip's member whose name is in UTF-8."""

UNPRINTABLE = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")
"""A control character in a name, or a byte that is not UTF-8, as Python holds it."""

ESCAPED = re.compile("%[0-9A-F]{2}")
"""The replacement for such a character in a plain name."""

HIDDEN = re.compile(
    r"(?:^|/)(?:\.|(?:__macosx|__pycache__|@eadir|[@#]recycle|#snapshot|\$recycle\.bin|system volume information|"
    r"lost\+found|(?:ehthumbs|thumbs)\.db|(?:desktop|picasa)\.ini|icon%0d)(?:/|$))",
    re.IGNORECASE,
)
"""A hidden folder or file in a path, or one that systems and programs make beside a person's."""

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,7}$")

Member = TypeVar("Member")
Key = TypeVar("Key", bound=Hashable)


def plain_name(name: str) -> str:
    """A file's plain name; a line break or a byte that is not UTF-8 becomes % and two hexadecimal digits."""
    slashed = re.sub(r"(^|/)(?:\./)+", r"\1", name.replace("\\", "/"))  # tar writes photographs/./a.jpg
    return compose_accents(UNPRINTABLE.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", slashed))


def compose_accents(text: str) -> str:
    """Text in which each accent and its letter are one character, if such a character exists (NFC)."""
    return unicodedata.normalize("NFC", text)


def members_by_name(path: Path, named: Iterable[tuple[str, Member]]) -> tuple[dict[str, Member], list[str]]:
    """The members of an archive by plain name, and the names of hidden ones, which are left out and counted in the log.

    Of several with the same name the last is taken, as archives define it. Raises `InputError` for different names with
    the same plain name.
    """
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    hidden = []
    for name, member in named:
        found = plain_name(name)
        if is_hidden(found):
            hidden.append(found)
            continue
        if names.setdefault(found, name.removeprefix("./")) != name.removeprefix("./"):
            raise InputError(
                f"{path}: two of its files are called {found}, as {names[found]!a} and {name!a}; leave only "
                "one of them, or rename one."
            )
        members[found] = member
    if hidden:
        _log_hidden_files(path, len(hidden), hidden[0])
    return members, hidden


@cache  # a job opens an archive several times
def _log_hidden_files(path: Path, count: int, first: str) -> None:
    logger.info("%s: %d hidden files and files that programs make are left out, the first is %s", path, count, first)


def is_hidden(name: str) -> bool:
    """True if a file, or a folder in which it is, is hidden (as .thumbnails), or is one that programs make."""
    return HIDDEN.search(name) is not None


def names_by_key(keyed: Iterable[tuple[Key, str]], where: str | Path) -> dict[Key, str]:
    """The one name under each key. Raises `InputError` that names both of two names under a key."""
    names: dict[Key, str] = {}
    for key, name in keyed:
        if names.setdefault(key, name) != name:
            raise InputError(f"{where}: {key} has {names[key]} and {name}; leave one of them, or rename one.")
    return names


def refuse_repeated(ids: Iterable[Hashable], problem: str) -> None:
    """Raises `InputError` that says the `problem` and names up to 20 of the ids that occur more than once."""
    twice = [one for one, times in Counter(ids).items() if times > 1]
    if twice:
        raise InputError(f"{problem}: {twice[:20]}; keep one of each.")


def refuse_alike(left: Iterable[str], right: Iterable[str], problem: str) -> None:
    """Raises `InputError` if names that are left over on two sides agree without folder, case or suffix.

    It says the `problem` with three such pairs. Folders count if names on a side differ in nothing else, as 001.jpg of
    each category.
    """
    sides = dict.fromkeys(left), dict.fromkeys(right)
    with_folders = any(len({*map(bare_name, names)}) < len(names) for names in sides)
    others = defaultdict[str, list[str]](list)
    for name in sides[1]:
        others[bare_name(name)].append(name)
    alike = [
        (name, found[-1])
        for name in sides[0]
        if (found := [one for one in others[bare_name(name)] if not with_folders or _agree_in_folders(name, one)])
    ]
    if alike:
        pairs = ", ".join(f"{one!r} and {other!r}" for one, other in alike[:3])
        raise InputError(
            f"{problem}: {len(alike):,} names agree only without folder, case, suffix or quotes, such as {pairs}. "
            "Write each of them in one way."
        )


def _agree_in_folders(name: str, other: str) -> bool:
    """True if one of two paths of folders ends as the other, which may be empty."""
    last, others = (reversed(PurePosixPath(one.strip(" \t\"'").casefold()).parts[:-1]) for one in (name, other))
    return all(one == another for one, another in zip(last, others, strict=False))


def bare_name(name: str) -> str:
    """A file's name without folder, case, suffix or quotes. A suffix begins with a letter, so IMG_2.0 has none."""
    return _SUFFIX.sub("", PurePosixPath(name.strip(" \t\"'")).name).casefold()


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

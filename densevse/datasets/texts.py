"""Reads text files of a data set, alone or in a folder, a zip or a tar."""

import json
import tarfile
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import StringConstraints, TypeAdapter, ValidationError

from densevse.datasets.archives import Archive, base_names
from densevse.datasets.file_names import plain
from densevse.runtime.errors import InputError

Content = TypeVar("Content")
Text = Annotated[str, StringConstraints(min_length=0)]
"""Text that can be encoded. An unpaired surrogate, which JSON may hold, cannot; only a constraint finds it."""


def read_file(path: str, pattern: str) -> bytes:
    """The bytes of the one file below `path` whose name matches `pattern`; or of `path`, if it is a plain file.

    Raises `InputError` if no file matches, or several do.
    """
    files = dict(read_files(path, pattern))
    if len(files) != 1:
        raise InputError(f"{path}: expected one file {pattern}, found {sorted(files)}.")
    return next(iter(files.values()))


def read_files(path: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file below `path` whose name (without folders) matches `pattern`, sorted by name.

    A plain file matches whatever its name. Raises `InputError` if there is none.
    """
    if is_plain_file(path):
        yield path, Path(path).read_bytes()
        return
    asked = plain(pattern)
    with Archive.open(path) as archive:
        by_base = base_names(archive)
        found = by_base.get(asked) or sorted(
            name for base, names in by_base.items() if fnmatch(base, asked) for name in names
        )
        if not found:
            raise InputError(f"{path}: no file {pattern} in it; it has {', '.join(archive.names()[:10]) or 'none'}.")
        for name in found:
            yield name, archive.read(name)


def read_lines(path: str, pattern: str, encoding: str = "utf-8") -> list[tuple[int, str]]:
    """The lines that are not blank of the file that matches `pattern`, with their numbers from 1."""
    return numbered_lines(read_file(path, pattern), f"{path}, {pattern}", encoding)


def numbered_lines(data: bytes, where: str, encoding: str) -> list[tuple[int, str]]:
    """The lines that are not blank, numbered from 1. Raises `InputError` that names an undecodable line."""
    text = decoded(data, where, encoding)
    ends = "\n" if "\n" in text else "\r"  # an old Mac ends lines with CR alone
    return [(number, line.rstrip("\r")) for number, line in enumerate(text.split(ends), start=1) if line.strip()]


def decoded(data: bytes, where: str, encoding: str) -> str:
    """The text without a byte order mark. Raises `InputError` that names an undecodable line."""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].split(b"\n")
        raise InputError(
            f"{where}, line {len(before)}: not {encoding} ({error.reason} after {before[-1][-80:]!r}). "
            "Correct the line, or name the file's encoding in the data set's options (encoding: latin-1)."
        ) from None
    except UnicodeError as error:
        raise InputError(f"options.encoding, for {where}: unknown encoding of text {encoding!r} ({error}).") from None


def read_json(data: bytes, where: str, leave_out: str | None = None) -> Any:
    """Parses JSON without the key `leave_out` of any object, which is dropped while reading to save memory."""

    def without(item: dict[str, Any]) -> dict[str, Any]:
        item.pop(str(leave_out), None)
        return item

    try:
        return json.loads(data, object_hook=without if leave_out else None)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON in UTF-8 ({error}); obtain the file again.") from error


def check_layout(layout: TypeAdapter[Content], content: Any, where: str) -> Content:
    """Checks `content` against its layout. Raises `InputError` that names the first entries of another kind."""
    try:
        return layout.validate_python(content)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}, found {str(one['input'])[:60]!a}"
            for one in error.errors(include_url=False)[:5]
        ]
        count = f"{error.error_count()} entries are not as the layout of such a file says"
        raise InputError("\n  ".join([f"{where}: {count}:", *wrong])) from None


def is_plain_file(path: str) -> bool:
    """True if `path` is a file and not an archive."""
    return Path(path).is_file() and not zipfile.is_zipfile(path) and not tarfile.is_tarfile(path)

"""Reads text files of others."""

import re

from snakeproof.errors import InputError

_KINDS = {
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"PK\x03\x04": "a zip",
    b"PAR1": "Parquet, which has the suffix .parquet",
}
"""Kinds of files that are taken for text, by their first bytes."""


def numbered_lines(data: bytes, where: str, encoding: str) -> list[tuple[int, str]]:
    """The lines that are not blank, numbered from 1. Raises `InputError` that names an undecodable line."""
    text = decode_text(data, where, encoding)
    ends = "\n" if "\n" in text else "\r"  # an old Mac ends lines with CR alone
    return [(number, line.rstrip("\r")) for number, line in enumerate(text.split(ends), start=1) if line.strip()]


def decode_text(data: bytes, where: str, encoding: str) -> str:
    """The text without a byte order mark. Raises `InputError` that names an undecodable line, or the kind of file."""
    check_text(data, where, encoding)
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].split(b"\n")
        raise InputError(
            f"{where}, line {len(before)}: not {encoding} ({error.reason} after {before[-1][-80:]!r}). "
            "Correct the line, or name the file's encoding in the data set's options, if its reader has that "
            "(encoding: latin-1)."
        ) from None
    except UnicodeError as error:
        raise InputError(f"options.encoding, for {where}: unknown encoding of text {encoding!r} ({error}).") from None


def check_text(data: bytes, where: str, encoding: str = "utf-8") -> None:
    """Raises `InputError` that says what a file is, if it is not text in the encoding."""
    kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), "")
    if kind:
        raise InputError(f"{where}: is {kind}; unpack it, or write it as text.")
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4096]
    if wide and not re.match(r"utf[-_]?(16|32)", encoding, re.IGNORECASE):
        raise InputError(
            f"{where}: is UTF-16, or no text; name its encoding (encoding: utf-16) in the data set's options, if its "
            "reader has that, or write UTF-8."
        )

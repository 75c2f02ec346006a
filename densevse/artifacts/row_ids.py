"""Reads the ids of a matrix's rows from a text file of the user's, one in each line."""

from pathlib import Path

from densevse.runtime.errors import InputError


def read_row_ids(path: str | Path) -> list[str]:
    """The ids of a file, without the spaces around them.

    Raises `InputError` for a missing file, a blank line, or a file that is not text in UTF-8.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error}); write it as text, with an id in each line.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); write a file with an id in each line.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise InputError(f"{path}, line {number}: the line is blank; each line must hold the id of a row.")
    return [line.strip() for line in lines]

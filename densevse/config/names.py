"""Names of entries, which also name files and folders of results, and checks that a name exists."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"{name!r} is also a file name; use only letters, digits, _ and -")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]


def known(where: str, names: Iterable[str], those: Iterable[Any]) -> None:
    """Raises `ValueError` that names the path of the first unknown name."""
    there = list(those)
    for name in names:
        if name not in there:
            raise ValueError(f"{where}: no {name!r}; known: {', '.join(sorted(filter(None, there)))}")

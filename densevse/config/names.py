"""Names of entries, which are names of files and folders of results as well, and names that must exist."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"files have the name {name!r} too; let it have letters, digits, _ and - alone")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]


def known(where: str, names: Iterable[str], those: Iterable[Any]) -> None:
    """Raise `ValueError` naming the path of the first name that is not one of those."""
    there = list(those)
    for name in names:
        if name not in there:
            raise ValueError(f"{where}: no {name!r}; known: {', '.join(sorted(filter(None, there)))}")

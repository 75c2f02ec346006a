"""Names of entries, which are names of files and folders of results as well."""

import re
from typing import Annotated

from pydantic import AfterValidator


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"files have the name {name!r} too; let it have letters, digits, _ and - alone")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]

"""Files that come with the project, such as the weights of scenes' network."""

from collections.abc import Mapping
from pathlib import Path

from densevse.artifacts.files import checksum, copy
from densevse.runtime.errors import InputError
from densevse.runtime.place import project_root


def unpack(source: Mapping[str, str], output: str | Path) -> None:
    """The job that copies a file of the project: `source` has its path in the project's folder and its sha256.

    The copy has the same path in every project. Raises `InputError` if the file is missing or has another checksum.
    """
    file, sha256 = project_root() / source["packaged"], source["sha256"]
    if not file.is_file():
        raise InputError(f"{file} is missing: it comes with the project. Obtain the project again.")
    found = checksum(file)
    if not found.startswith(sha256):
        raise InputError(f"{file} has the sha256 {found}, not {sha256}: it was changed. Obtain the project again.")
    copy(file, output)

"""Files that come with the project, such as the weights of scenes' network."""

import shutil
from pathlib import Path

from densevse.artifacts.files import atomic, checksum
from densevse.runtime.errors import InputError
from densevse.runtime.place import project_root


def unpack(packaged: str, sha256: str, path: str | Path) -> None:
    """Copy the file `packaged`, named from the project's folder, as `path`.

    So it has one place, wherever the project lies. Raises `InputError` if it is missing, or its checksum is another.
    """
    file = project_root() / packaged
    if not file.is_file():
        raise InputError(f"{file} is missing: it comes with the project. Obtain the project again.")
    found = checksum(file)
    if not found.startswith(sha256):
        raise InputError(f"{file} has the sha256 {found}, not {sha256}: it was changed. Obtain the project again.")
    with atomic(path) as temporary:
        shutil.copyfile(file, temporary)

"""Folders that are either whole under their final name or absent."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from densevse.artifacts.files import writing


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`, and rename it on success; on an error it is removed.

    Raises `InputError` where the disk is full or does not let itself be written to.
    """
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))
    try:
        with writing(folder):
            yield temporary
            temporary.chmod(0o755)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)

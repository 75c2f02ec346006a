"""Makes folders that are either whole under their final name or absent."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from densevse.artifacts.files import writing


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a temporary folder beside `folder`, and renames it on success; an error removes it.

    Raises `InputError` if the disk is full or not writable.
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

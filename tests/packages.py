"""Packages with entry points that are installed beside the others for a test."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

from snakeproof import plugins


def install(folder: Path, name: str, files: Mapping[str, str], group: str, **entries: str) -> Path:
    """Writes a package with entry points into a folder of Python's search path; returns the package's folder."""
    (folder / name).mkdir(exist_ok=True)
    for file, text in files.items():
        (folder / name / file).write_text(text)
    described = folder / f"{name}_of_mine-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-of-mine\nVersion: 1.0\n")
    lines = [f"{key} = {value}" for key, value in entries.items()]
    (described / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
    importlib.invalidate_caches()  # a folder that was listed in the same moment would seem not to have it
    plugins._read_entry_points.cache_clear()
    return folder / name


def forget(name: str) -> None:
    """Forgets a package that a test has imported."""
    plugins._read_entry_points.cache_clear()
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]

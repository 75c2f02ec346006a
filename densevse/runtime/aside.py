"""The folder of outputs that a run puts aside. A job may take them back (densevse.artifacts.unchanged)."""

import hashlib
import os
from pathlib import Path

from densevse.runtime.project import RESULTS


def aside_folder(results: str) -> Path:
    """The folder of the outputs of the folder `results` that were put aside."""
    return Path(results, ".aside")


def aside(path: str) -> Path:
    """The place of an output while it is aside."""
    name = hashlib.sha256(path.encode()).hexdigest()
    return aside_folder(os.environ.get(RESULTS, "results")) / f"{name}{Path(path).suffix}"

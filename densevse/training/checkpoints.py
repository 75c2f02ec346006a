"""What an interrupted training needs to go on as if nothing had happened."""

import hashlib
import json
import pickle
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from densevse.artifacts.files import atomic, checksum
from densevse.errors import InputError
from densevse.logs import logger

LARGEST_READ = 1 << 26  # bytes; larger files (features) are known by size and time


def fingerprint(settings: Mapping[str, Any], files: Iterable[str | Path]) -> str:
    """What identifies a training: its settings, what is in its input files and its code, and torch's version.

    Where the files lie does not: a project that was moved is resumed.
    """
    known = [_identity(Path(path)) for path in files]
    described = json.dumps({"settings": settings, "files": known, "torch": torch.__version__}, sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _identity(path: Path) -> str:
    status = path.stat()
    return checksum(path) if status.st_size <= LARGEST_READ else f"{status.st_size} bytes of {status.st_mtime_ns}"


class Checkpoint:
    """The checkpoint of one training: a plain dictionary of tensors, numbers and strings.

    It lies in a work folder of its own beside the model, `.work-<fingerprint>`, which no rule declares: Snakemake
    leaves it alone when it cleans up after a killed job. It goes when the model is complete.
    """

    def __init__(self, model: str | Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._models = Path(model).parent
        self.path = self._models / f".work-{fingerprint[:16]}" / "checkpoint.pt"

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the checkpoint by `state`."""
        with atomic(self.path) as temporary:
            torch.save({"fingerprint": self.fingerprint, **state}, temporary)

    def load(self) -> dict[str, Any] | None:
        """The checkpoint, or nothing where there is none.

        Raises `InputError` if it cannot be read or is that of another training. No code in it is run.
        """
        for other in self._others():
            logger.info("%s is of another configuration, input or code; not resumed from", other)
        if not self.path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, OSError, pickle.UnpicklingError) as error:
            raise InputError(
                f"{self.path}: expected a checkpoint, found a damaged file. Delete it and run snakemake again: "
                "training then starts anew."
            ) from error
        found = state.pop("fingerprint", None)
        if found != self.fingerprint:
            raise InputError(
                f"{self.path}: expected the checkpoint of training {self.fingerprint}, found that of {found}. "
                "Delete it and run snakemake again: training then starts anew."
            )
        return state

    def remove(self) -> None:
        """Remove this training's work folder and those of trainings that it supersedes."""
        for folder in [self.path.parent, *self._others()]:
            shutil.rmtree(folder, ignore_errors=True)

    def _others(self) -> list[Path]:
        return sorted(folder for folder in self._models.glob(".work-*") if folder != self.path.parent)

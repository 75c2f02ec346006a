"""Checkpoints, from which an interrupted training continues exactly as if it had not been interrupted."""

import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from densevse.artifacts.files import atomic, checksum
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

LARGEST_READ = 1 << 26  # bytes; larger files (features) are only sampled
SAMPLES, SAMPLE = 256, 1 << 12  # their number, and the bytes of each


def fingerprint(settings: Mapping[str, Any], files: Iterable[str | Path]) -> str:
    """A digest that identifies a training: its settings (with a digest of its code), input files and torch's version.

    Files are identified by their contents, not by their paths or times, so that training also resumes in a project that
    was moved.
    """
    known = [_identity(Path(path)) for path in files]
    described = json.dumps({"settings": settings, "files": known, "torch": torch.__version__}, sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _identity(path: Path) -> str:
    """A digest of a file's contents; for a large file, of its size, its end and samples spaced evenly over it.

    The end of a Parquet file holds the schema, the lineage and the offset of each page.
    """
    size = path.stat().st_size
    if size <= LARGEST_READ:
        return checksum(path)
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        for number in range(SAMPLES):
            file.seek(number * (size - SAMPLE) // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
        file.seek(-footer_bytes(path), os.SEEK_END)
        digest.update(file.read())
    return digest.hexdigest()


def footer_bytes(path: Path) -> int:
    """The length of a Parquet file's footer in bytes, with its length and mark; 8 for other files."""
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        length, mark = file.read(4), file.read(4)
    return int.from_bytes(length, "little") + 8 if mark == b"PAR1" else 8


class Checkpoint:
    """The checkpoint of one training: a plain dictionary of tensors, numbers and strings.

    It is kept in a work folder beside the weights, `.work-<their name>-<fingerprint>`. No rule declares the folder, so
    Snakemake does not delete it after a killed job. It is removed when the weights are written.
    """

    def __init__(self, weights: str | Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._beside, self._prefix = Path(weights).parent, f".work-{Path(weights).stem}-"
        self.path = self._beside / f"{self._prefix}{fingerprint[:16]}" / "checkpoint.pt"

    def save(self, state: Mapping[str, Any]) -> None:
        """Replaces the checkpoint by `state`."""
        with atomic(self.path) as temporary:
            torch.save({"fingerprint": self.fingerprint, **state}, temporary)

    def load(self) -> dict[str, Any] | None:
        """The checkpoint, or None if there is none.

        Raises `InputError` if it cannot be read or belongs to another training. No code in it is run.
        """
        for other in self._others():
            logger.info("%s: ignored, as it is of another configuration, input, code or kind of device", other)
        if not self.path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, OSError, pickle.UnpicklingError) as error:
            raise InputError(
                f"{self.path}: expected a checkpoint, found a damaged file. Delete it and run snakemake again: "
                "training then starts again."
            ) from error
        found = state.pop("fingerprint", None)
        if found != self.fingerprint:
            raise InputError(
                f"{self.path}: expected the checkpoint of training {self.fingerprint}, found that of {found}. "
                "Delete it and run snakemake again: training then starts from the beginning."
            )
        return state

    def remove(self) -> None:
        """Removes the work folders of this training and of earlier trainings of the same weights."""
        for folder in [self.path.parent, *self._others()]:
            shutil.rmtree(folder, ignore_errors=True)

    def _others(self) -> list[Path]:
        found = self._beside.glob(self._prefix + "[0-9a-f]" * 16)
        return sorted(folder for folder in found if folder != self.path.parent)

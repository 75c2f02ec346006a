"""What an interrupted training needs to go on as if nothing had happened."""

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

LARGEST_READ = 1 << 26  # bytes; of larger files (features) only samples are read
SAMPLES, SAMPLE = 256, 1 << 12  # how many, and bytes of each


def fingerprint(settings: Mapping[str, Any], files: Iterable[str | Path]) -> str:
    """What identifies a training: its settings (a digest of its code among them), its input files, torch's version.

    Files are known by what is in them: neither where they lie nor when they were written makes a difference, so a
    project that was moved is resumed.
    """
    known = [_identity(Path(path)) for path in files]
    described = json.dumps({"settings": settings, "files": known, "torch": torch.__version__}, sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _identity(path: Path) -> str:
    """A digest of what is in a file; of a large one its size, its end and samples evenly spaced over it.

    The end of a Parquet file holds the schema, what it was made from, and where each of its pages stands.
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
    """How many bytes the footer of a Parquet file takes at its end, its length and mark included; 8 of other files."""
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        length, mark = file.read(4), file.read(4)
    return int.from_bytes(length, "little") + 8 if mark == b"PAR1" else 8


class Checkpoint:
    """The checkpoint of one training: a plain dictionary of tensors, numbers and strings.

    It lies in a work folder of its own beside the weights, `.work-<their name>-<fingerprint>`, which no rule declares:
    Snakemake leaves it alone when it cleans up after a killed job. It goes when the weights are written.
    """

    def __init__(self, weights: str | Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._beside, self._prefix = Path(weights).parent, f".work-{Path(weights).stem}-"
        self.path = self._beside / f"{self._prefix}{fingerprint[:16]}" / "checkpoint.pt"

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
        """Remove the work folders of this training and of those of the same weights that it supersedes."""
        for folder in [self.path.parent, *self._others()]:
            shutil.rmtree(folder, ignore_errors=True)

    def _others(self) -> list[Path]:
        found = self._beside.glob(self._prefix + "[0-9a-f]" * 16)
        return sorted(folder for folder in found if folder != self.path.parent)

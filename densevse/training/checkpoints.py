"""Checkpoints, from which an interrupted training continues exactly as if it had not been interrupted."""

import hashlib
import json
import pickle
import shutil
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from snakeproof.errors import InputError
from snakeproof.files import atomic_file, checksum
from snakeproof.logs import logger
from snakeproof.seals import read_seal

DIGEST_BYTES = 32
"""The bytes at a checkpoint's end: the digest of the bytes before them, which torch passes by."""


def fingerprint(settings: Mapping[str, Any], files: Iterable[str | Path]) -> str:
    """A digest that identifies a training: its settings (with a digest of its code), input files and torch's version.

    Files are identified by their contents, not by their paths or times, so that training also resumes in a project that
    was moved.
    """
    known = [_file_digest(Path(path)) for path in files]
    described = json.dumps({"settings": settings, "files": known, "torch": torch.__version__}, sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _file_digest(path: Path) -> str:
    """The digest of an artifact's rows, or of the bytes of another file."""
    return read_seal(path).digest if path.suffix == ".parquet" else checksum(path)


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
        with atomic_file(self.path) as temporary:
            torch.save({"fingerprint": self.fingerprint, **state}, temporary)
            digest = bytes.fromhex(checksum(temporary))
            with open(temporary, "ab") as file:
                file.write(digest)

    def load(self) -> dict[str, Any] | None:
        """The checkpoint, or None if there is none.

        Raises `InputError` if it cannot be read or belongs to another training. No code in it is run.
        """
        for other in self._other_folders():
            logger.info("%s: ignored, as it is of another configuration, input, code or kind of device", other)
        if not self.path.exists():
            return None
        whole = self.path.read_bytes()
        if hashlib.sha256(memoryview(whole)[:-DIGEST_BYTES]).digest() != whole[-DIGEST_BYTES:]:
            raise _damage_error(self.path)
        try:
            state: dict[str, Any] = torch.load(BytesIO(whole), map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, OSError, pickle.UnpicklingError) as error:
            raise _damage_error(self.path) from error
        found = state.pop("fingerprint", None)
        if found != self.fingerprint:
            raise InputError(
                f"{self.path}: expected the checkpoint of training {self.fingerprint}, found that of {found}. "
                "Delete it and run snakemake again: training then starts from the beginning."
            )
        return state

    def remove(self) -> None:
        """Removes the work folders of this training and of earlier trainings of the same weights."""
        for folder in [self.path.parent, *self._other_folders()]:
            shutil.rmtree(folder, ignore_errors=True)

    def _other_folders(self) -> list[Path]:
        found = self._beside.glob(self._prefix + "[0-9a-f]" * 16)
        return sorted(folder for folder in found if folder != self.path.parent)


def _damage_error(path: Path) -> InputError:
    return InputError(
        f"{path}: expected a checkpoint, found a damaged file. Delete it and run snakemake again: training then starts "
        "again."
    )

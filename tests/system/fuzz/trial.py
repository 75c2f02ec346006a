"""Damages one file after the other, and records each reader's outcome."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from densevse.runtime.errors import InputError
from tests.system.fuzz.mutations import spoil
from tests.system.fuzz.readers import Target

VALID, REFUSED, UNNAMED = "read", "refused by name", "refused without the file's name"


def outcome(target: Target, seed: int) -> str:
    """The outcome of damaging the target's file with this seed; the name of an unexpected error."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in target.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(spoil(data, np.random.default_rng(seed)) if name == target.spoilt else data)
        try:
            target.read(Path(folder))
        except InputError as error:
            return REFUSED if names_a_file(str(error), target, folder) else f"{UNNAMED}: {error}"
        except Exception as error:  # the fuzz is there to find which
            return f"{type(error).__name__}: {error}"
    return VALID


def names_a_file(message: str, target: Target, folder: str) -> bool:
    """True if a message names the damaged file, or an option or another file of the data set that refers to it."""
    names = {Path(name).name for name in target.files} | {folder, "options.", "image ids", "no image that a split"}
    return any(name in message for name in names)


def outcomes(target: Target, seeds: range) -> Counter[str]:
    """The number of each outcome."""
    return Counter(outcome(target, seed) for seed in seeds)

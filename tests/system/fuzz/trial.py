"""One spoilt file after the other, and what a reader made of each."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from densevse.runtime.errors import InputError
from tests.system.fuzz.mutations import spoil
from tests.system.fuzz.readers import Target

VALID, REFUSED, UNNAMED = "read", "refused by name", "refused without the file's name"


def outcome(target: Target, seed: int) -> str:
    """What becomes of the target's file when it is spoilt with this seed; an error of another kind is its name."""
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
    """Whether a message names the spoilt file, or what a data set's options or another of its files says of it."""
    names = {Path(name).name for name in target.files} | {folder, "options.", "image ids", "no image that a split"}
    return any(name in message for name in names)


def outcomes(target: Target, seeds: range) -> Counter[str]:
    """How often each outcome came."""
    return Counter(outcome(target, seed) for seed in seeds)

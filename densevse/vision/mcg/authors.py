"""The ranker that learns from the sample of candidates that MCG's authors published."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from densevse.runtime.errors import InputError
from densevse.vision.mcg.candidates import FEATURES
from densevse.vision.mcg.forest import Ranker, grow, save


def learn_ranker(sample: str, options: Mapping[str, Any], output: str) -> None:
    """The job that learns the ranker from the authors' sample. `options` are a proposer's: trees, leaf.

    Raises `InputError` as `sample_of_authors` does.
    """
    forest = grow(*sample_of_authors(sample), options["trees"], options["leaf"], seed=0)
    save(Ranker([forest]), output, Path(sample).name)


def sample_of_authors(path: str | Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The features (C, 16) and best Jaccards (C,) of MCG's published training sample, a MATLAB file.

    Raises `InputError` if it is not such a file.
    """
    try:
        stored = loadmat(path, variable_names=["features", "jaccards"])
        features, jaccards = stored["features"].astype(np.float32), stored["jaccards"].astype(np.float32).ravel()
    except Exception as error:  # SciPy raises many kinds for a file that is cut or no MATLAB file
        raise InputError(f"{path}: not MCG's sample of candidates ({error!r}); get the file again.") from error
    if features.shape != (len(jaccards), len(FEATURES)):
        raise InputError(f"{path}: expected {len(FEATURES)} features for each candidate, found {features.shape}.")
    return features, jaccards

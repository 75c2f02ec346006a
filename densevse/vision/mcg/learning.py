"""The jobs that learn MCG's ranker: from the sample of candidates that its authors published, or from masks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat

from densevse.artifacts.schemas.proposals import CANDIDATES
from densevse.vision.mcg.candidates import FEATURES
from densevse.vision.mcg.forest import Ranker, fold, grow_forest, save_ranker
from snakeproof.errors import InputError
from snakeproof.schema import read_all


def learn_ranker(sample: str, options: Mapping[str, Any], output: str) -> None:
    """The job that learns the ranker from the authors' sample. `options` are a proposer's: trees, leaf.

    Raises `InputError` as `sample_of_authors` does.
    """
    forest = grow_forest(*sample_of_authors(sample), options["trees"], options["leaf"], seed=0)
    save_ranker(Ranker([forest]), output)


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


def learn_ranker_from_masks(
    samples: Sequence[str], masks: Mapping[str, Any], options: Mapping[str, Any], output: str
) -> None:
    """The job that learns a ranker from shards of CANDIDATES; see `learn_from_masks`.

    `masks` are a proposer's: the data set, the number of its shards and that of folds. Raises `InputError` if nothing
    is left to learn from.
    """
    save_ranker(learn_from_masks(read_all(samples, CANDIDATES), masks["folds"], options, seed=0), output)


def learn_from_masks(sample: pd.DataFrame, folds: int, options: Mapping[str, Any], seed: int) -> Ranker:
    """Grows the ranker on rows of CANDIDATES: a forest for each fold, on the images of all others.

    `options` are a proposer's: trees, leaf. Raises `InputError` if nothing is left to learn from.
    """
    features, jaccards = np.stack(list(sample["features"])).astype(np.float32), sample["jaccard"].to_numpy(np.float32)
    of_row = np.array([fold(image_id, folds) for image_id in sample["image_id"]])
    if len(np.unique(of_row)) < 2:
        raise InputError("the ranker of MCG needs masks of images in two folds at least; learn from more shards.")
    return Ranker(
        [
            grow_forest(features[of_row != left], jaccards[of_row != left], options["trees"], options["leaf"], seed)
            for left in range(folds)
        ]
    )

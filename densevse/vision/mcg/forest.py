"""The ranker: random forests that estimate, from a candidate's 16 features, how well it covers an object.

scikit-learn grows a forest. It is stored as plain arrays in a safetensors file, which is read without executing code.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from sklearn.ensemble import RandomForestRegressor

from densevse.vision.mcg.candidates import FEATURES
from snakeproof.errors import InputError
from snakeproof.seals import sealed_file, verify_file
from snakeproof.statements import statement_metadata


@dataclass(frozen=True)
class RegressionForest:
    """Regression trees as arrays of nodes; tree t starts at `starts[t]`, its root first.

    A node goes to its child 0 if the feature `features[node]` is at most `thresholds[node]`, else to its child 1.
    `children[node]` are numbered over all trees; a leaf has feature -1. `values[node]` is the mean Jaccard of its
    training candidates.
    """

    starts: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: NDArray[np.float32]
    children: NDArray[np.int32]
    values: NDArray[np.float32]

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean of all trees' values: (C, 16) FEATURES to (C,)."""
        found: NDArray[np.float32] = _predict(
            features, self.starts, self.features, self.thresholds, self.children, self.values
        )
        return found


ARRAYS = ("starts", "features", "thresholds", "children", "values")


def grow_forest(
    features: NDArray[np.float32], jaccards: NDArray[np.float32], trees: int, leaf: int, seed: int
) -> RegressionForest:
    """Grows `trees` trees on candidates' features (C, 16) and their best Jaccard with an object (C,).

    A split considers a third of the features, as usual for regression forests; a leaf holds at least `leaf` candidates.
    The number of threads does not change the result.
    """
    regressor = RandomForestRegressor(trees, max_features=1 / 3, min_samples_leaf=leaf, random_state=seed, n_jobs=-1)
    grown = [estimator.tree_ for estimator in regressor.fit(features, jaccards).estimators_]
    starts = np.cumsum([0, *(tree.node_count for tree in grown)])
    children = [
        np.stack([tree.children_left, tree.children_right], axis=1) + start
        for tree, start in zip(grown, starts, strict=False)
    ]
    questions = np.concatenate([tree.feature for tree in grown])
    return RegressionForest(
        starts=starts[:-1].astype(np.int32),
        features=np.maximum(questions, -1).astype(np.int32),
        thresholds=_round_thresholds(np.concatenate([tree.threshold for tree in grown])),
        children=np.concatenate(children).astype(np.int32),
        values=np.concatenate([tree.value[:, 0, 0] for tree in grown]).astype(np.float32),
    )


@dataclass(frozen=True)
class Ranker:
    """A forest for each fold of images, grown without the images of that fold."""

    forests: Sequence[RegressionForest]

    def forest(self, image_id: str) -> RegressionForest:
        """The forest that may rank an image, as it was grown without it."""
        return self.forests[fold(image_id, len(self.forests))]


def fold(image_id: str, folds: int) -> int:
    """The fold of an image, from 0; it depends only on the image's name."""
    return zlib.crc32(image_id.encode()) % folds


def save_ranker(ranker: Ranker, path: str | Path) -> None:
    """Writes a ranker to `path`, atomically."""
    arrays = {
        f"{number}.{name}": getattr(forest, name) for number, forest in enumerate(ranker.forests) for name in ARRAYS
    }
    with sealed_file(path) as temporary:
        save_file(arrays, temporary, statement_metadata())


def load_ranker(path: str | Path) -> Ranker:
    """Reads what `save_ranker` wrote. Raises `InputError` if the file does not hold whole forests over FEATURES."""
    verify_file(path)
    try:
        arrays = load_file(path)
    except SafetensorError as error:
        raise InputError(
            f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake again."
        ) from error
    folds = len(arrays) // len(ARRAYS)
    if not folds or set(arrays) != {f"{number}.{name}" for number in range(folds) for name in ARRAYS}:
        raise InputError(f"{path}: expected the arrays {', '.join(ARRAYS)} of forests, found {', '.join(arrays)}.")
    forests = [RegressionForest(**{name: arrays[f"{number}.{name}"] for name in ARRAYS}) for number in range(folds)]
    if any(forest.features.max(initial=-1) >= len(FEATURES) for forest in forests):
        raise InputError(
            f"{path}: a forest of more than {len(FEATURES)} features. Delete the file and run snakemake again."
        )
    return Ranker(forests)


def _round_thresholds(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rounds each threshold down to a float32, which compares with float32 features just as the threshold does."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded)


@njit(cache=True)
def _predict(candidates, starts, features, thresholds, children, values):
    found = np.zeros(len(candidates), np.float32)
    for number in range(len(candidates)):
        total = 0.0
        for start in starts:
            node = start
            while features[node] >= 0:
                further = candidates[number, features[node]] > thresholds[node]
                node = children[node, np.int64(further)]
            total += values[node]
        found[number] = total / len(starts)
    return found

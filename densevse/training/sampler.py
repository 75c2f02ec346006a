"""Assigns examples to the batches of an epoch, by seed, round and epoch alone, so that training can resume."""

import numpy as np

from densevse.runtime.arrays import Indices


def epoch_batches(examples: int, size: int, seed: int, epoch: int, round_number: int = 0) -> list[Indices]:
    """All examples in random order, in batches of at most `size`.

    Batches have nearly equal sizes, as batch normalisation has poor statistics in a small last batch.
    """
    order = np.random.default_rng((seed, epoch, round_number)).permutation(examples)
    return [np.asarray(part) for part in np.array_split(order, -(-examples // size))]

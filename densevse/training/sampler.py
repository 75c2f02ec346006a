"""Which examples make which batch of an epoch: a function of seed, round and epoch alone, so that it can be resumed."""

import numpy as np

from densevse.runtime.arrays import Indices


def epoch_batches(examples: int, size: int, seed: int, epoch: int, round_number: int = 0) -> list[Indices]:
    """All examples in a random order, in batches of at most `size`.

    The batches are as equal as can be: a small last one would train batch normalisation on next to nothing.
    """
    order = np.random.default_rng((seed, epoch, round_number)).permutation(examples)
    return [np.asarray(part) for part in np.array_split(order, -(-examples // size))]

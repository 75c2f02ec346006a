"""Which sentences make which batch of an epoch: a function of seed and epoch alone, so that it can be resumed."""

import numpy as np

from densevse.training.ragged import Indices


def epoch_batches(sentences: int, size: int, seed: int, epoch: int) -> list[Indices]:
    """All sentences in a random order, in batches of at most `size`.

    The batches are as equal as can be: a small last one would train batch normalisation on next to nothing.
    """
    order = np.random.default_rng((seed, epoch)).permutation(sentences)
    return [np.asarray(part) for part in np.array_split(order, -(-sentences // size))]

"""BLEU from its counts, which can be summed over any set of sentences (Papineni et al. 2002)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.schemas.captions import ORDERS

_Reals = NDArray[np.float64]
SMALL, TINY = 1e-9, 1e-15  # pycocoevalcap's, against divisions by zero


def bleu(
    correct: Sequence[_Reals], guessed: Sequence[_Reals], length: _Reals, reference_length: _Reals
) -> dict[str, _Reals]:
    """BLEU-1 to 4 from summed counts of any shape, with the brevity penalty and without.

    `correct` and `guessed` hold one array for each n.
    """
    ratio = (length + TINY) / (reference_length + SMALL)
    penalty = np.exp(np.minimum(0, 1 - 1 / ratio))
    metrics, product = {}, np.ones_like(length)
    for n, of_order, all_of_order in zip(ORDERS, correct, guessed, strict=True):
        product = product * (of_order + TINY) / (all_of_order + SMALL)
        metrics[f"bleu_{n}_without_penalty"] = product ** (1 / n)
        metrics[f"bleu_{n}"] = product ** (1 / n) * penalty
    return metrics

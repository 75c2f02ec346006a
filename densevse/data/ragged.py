"""Lists of different lengths in one flat array: words of sentences, nodes of trees, regions of images."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from densevse.runtime.arrays import Indices


@dataclass(frozen=True)
class Ragged:
    """The start of each list in the flat array that holds them all."""

    first: Indices  # (lists + 1,)

    @classmethod
    def of_lengths(cls, lengths: ArrayLike) -> Self:
        """Lists of these lengths, in order."""
        return cls(np.concatenate(([0], np.cumsum(np.asarray(lengths, np.int64)))))

    def lengths(self, lists: Indices) -> Indices:
        """The lengths of some lists."""
        return self.first[lists + 1] - self.first[lists]

    def take(self, lists: Indices) -> tuple[Indices, Indices, Indices]:
        """The items of some lists, in order.

        Returns three values for each item: its place in the flat array, its list (counted among those asked for), and
        its place in that list.
        """
        lengths = self.lengths(lists)
        owner = np.repeat(np.arange(len(lists)), lengths)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.first[lists][owner] + place, owner, place

"""Lists of different lengths kept one after the other: the words of sentences, nodes of trees, regions of images."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from densevse.runtime.arrays import Indices


@dataclass(frozen=True)
class Ragged:
    """Where each list begins in the flat array that holds them all."""

    first: Indices  # (lists + 1,)

    @classmethod
    def of_lengths(cls, lengths: ArrayLike) -> Self:
        """Lists of these lengths, in order."""
        return cls(np.concatenate(([0], np.cumsum(np.asarray(lengths, np.int64)))))

    def lengths(self, lists: Indices) -> Indices:
        """How long some lists are."""
        return self.first[lists + 1] - self.first[lists]

    def take(self, lists: Indices) -> tuple[Indices, Indices, Indices]:
        """The items of some lists, in order.

        For each item: where it stands in the flat array, to which of the lists it belongs (counted among those asked
        for), and its place in that list.
        """
        lengths = self.lengths(lists)
        owner = np.repeat(np.arange(len(lists)), lengths)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.first[lists][owner] + place, owner, place

"""Lists of different lengths in one flat array: words of sentences, nodes of trees, regions of images."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densevse.runtime.arrays import Indices


@dataclass(frozen=True)
class Ragged:
    """The start of each list in the flat array that holds them all."""

    first: Indices  # (lists + 1,)

    @classmethod
    def from_lengths(cls, lengths: ArrayLike) -> Self:
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


@dataclass(frozen=True)
class RaggedNumbers:
    """Lists of rows of whole numbers, in four bytes each: all sentences of MS-COCO as trees take a quarter of a GB."""

    lists: Ragged
    rows: NDArray[np.int32]  # (items of all lists, columns)

    @classmethod
    def from_lists(cls, lists: int, columns: int, found: Iterable[tuple[int, ArrayLike]]) -> Self:
        """Collect `lists` lists, each `found` once, in any order: its number and its rows of `columns` numbers."""
        lengths, order, numbers = np.zeros(lists, np.int64), array("q"), array("i")
        for number, of_list in found:
            stored = np.asarray(of_list, np.int32)
            lengths[number] = stored.size // columns
            order.append(number)
            numbers.frombytes(stored.tobytes())
        rows, found_at = np.frombuffer(numbers, np.int32).reshape(-1, columns), np.frombuffer(order, np.int64)
        if (np.diff(found_at) < 0).any():
            rows = rows[Ragged.from_lengths(lengths[found_at]).take(np.argsort(found_at))[0]]
        return cls(Ragged.from_lengths(lengths), rows)

    def take(self, lists: Indices) -> tuple[Indices, Indices, Indices]:
        """The columns of some lists, (columns, items); and of each item its list and its place, as `Ragged.take`."""
        items, owner, place = self.lists.take(lists)
        return self.rows[items].T.astype(np.int64, order="C"), owner, place

    def padded_columns(self, lists: Indices) -> tuple[Indices, Indices]:
        """The columns of some lists, (columns, lists, longest), padded with 0; and their lengths (lists,)."""
        numbers, owner, place = self.take(lists)
        lengths = self.lists.lengths(lists)
        table = np.zeros((len(numbers), len(lists), int(lengths.max(initial=1))), np.int64)
        table[:, owner, place] = numbers
        return table, lengths

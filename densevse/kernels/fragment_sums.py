"""Sums of fragment scores for all pairs of images and sentences, by one matrix product of all fragments.

    sum_{i in g_k} sum_{j in g_l} max(0, v_i . s_j)    the double sum of DeFrag's Eq 6, by two segmented sums
    sum_{j in g_l} max_{i in g_k} v_i . s_j            the sum over each sentence fragment's best region

Each is computed with and without the truncation max(0, .).

The fragments that exist are stored list after list (image after image, or sentence after sentence). The CPU plans their
places, so that the host waits for a GPU at most once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from densevse.kernels.arrays import Booleans, Integers, tensor_on_device
from densevse.runtime.on_gpu import is_plain

# Rows of the padded table in which a GPU maps the vectors of all relations at once; more are mapped one by one.
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class ByRelation:
    """The order of vectors in which those of one relation stand together."""

    order: Tensor  # (n,) the vector at each place
    place: Tensor  # (n,) the place of each vector in a table (relations, largest count)
    counts: tuple[int, ...]  # how many vectors each relation has

    @classmethod
    def from_relations(cls, relation: Integers, relations: int) -> Self:
        """Sorts (n,) vectors by their relation, below `relations`; the result's tensors are on the CPU."""
        order, counts = np.argsort(relation, kind="stable"), np.bincount(relation, minlength=relations)
        before, place = counts.cumsum() - counts, np.empty_like(order)
        place[order] = np.arange(len(order)) + np.repeat(np.arange(relations) * counts.max() - before, counts)
        return cls(torch.from_numpy(order), torch.from_numpy(place), tuple(counts.tolist()))

    @property
    def largest_count(self) -> int:
        """The most vectors that one relation has."""
        return max(self.counts)

    @property
    def row_count(self) -> int:
        """The rows of the table."""
        return len(self.counts) * self.largest_count


class LinearByRelation(nn.Module):
    """The map W_R x + b_R, with separate weights for every relation R."""

    def __init__(self, relations: int, inputs: int, outputs: int, *, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(relations, outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(relations, outputs)) if bias else None
        nn.init.uniform_(self.weight, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Tensor, by_relation: ByRelation) -> Tensor:
        """(n, outputs) maps of (n, inputs) vectors."""
        if x.device.type == "cpu" or is_plain("relations") or by_relation.row_count > ROWS_AT_ONCE:
            return self.multiply_parts(x, by_relation)
        return self.multiply_table(x, by_relation)

    def multiply_parts(self, x: Tensor, by_relation: ByRelation) -> Tensor:
        """The same by one matrix product for each relation that the vectors have."""
        biases = [None] * len(by_relation.counts) if self.bias is None else self.bias.unbind()
        parts = zip(x[by_relation.order].split(by_relation.counts), self.weight.unbind(), biases, strict=True)
        mapped = torch.cat([linear(part, weight, bias) for part, weight, bias in parts if len(part) or not len(x)])
        return torch.zeros_like(mapped).index_copy(0, by_relation.order, mapped)

    def multiply_table(self, x: Tensor, by_relation: ByRelation) -> Tensor:
        """The same by one product of padded tables: on a GPU, its zeros cost less than the start of many products."""
        table = x.new_zeros(by_relation.row_count, x.shape[1]).index_copy(0, by_relation.place, x)
        table = table.view(len(by_relation.counts), by_relation.largest_count, x.shape[1])
        if self.bias is None:
            mapped = torch.bmm(table, self.weight.mT)
        else:
            mapped = torch.baddbmm(self.bias.unsqueeze(1), table, self.weight.mT)
        return mapped.flatten(0, 1).index_select(0, by_relation.place)


# While all pairs are scored: fragment scores in memory at a time, and sentence fragments that they are of. A matrix
# product of a few regions with very many fragments would take twice as long.
SCORES_AT_ONCE, FRAGMENTS_AT_ONCE = 1 << 20, 1 << 11


def owners(lengths: Integers) -> Integers:
    """The list that each item belongs to, where items are stored list after list: sizes 2, 0, 1 give 0, 0, 2."""
    return np.repeat(np.arange(len(lengths)), lengths)


def masks_on_host(*masks: Tensor) -> list[Booleans]:
    """Boolean masks as NumPy arrays, moved by one copy."""
    copied = torch.cat([mask.flatten() for mask in masks]).cpu().split([mask.numel() for mask in masks])
    return [part.view(mask.shape).numpy() for part, mask in zip(copied, masks, strict=True)]


def take_rows(table: Tensor, present: Booleans) -> Tensor:
    """The rows (n, ...) of a table (I, R, ...) at the places that are `present` (I, R)."""
    return table.flatten(0, 1).index_select(0, tensor_on_device(np.flatnonzero(present), table.device))


def place_rows(rows: Tensor, present: Booleans, elsewhere: float = 0.0) -> Tensor:
    """A table (I, R, ...) with the rows (n, ...) at these places, others `elsewhere`: the inverse of `take_rows`."""
    empty = rows.new_full((present.size, *rows.shape[1:]), elsewhere)
    table: Tensor = empty.index_copy(0, tensor_on_device(np.flatnonzero(present), rows.device), rows)
    return table.view(*present.shape, *rows.shape[1:])


def existing_fragments(vectors: Tensor, present: Booleans) -> tuple[Tensor, Tensor]:
    """The (n, D) fragments of (I, R, D) that are `present` (I, R), and the (n,) image or sentence of each."""
    both = tensor_on_device(np.stack((np.flatnonzero(present), owners(present.sum(axis=1)))), vectors.device)
    return vectors.flatten(0, 1).index_select(0, both[0]), both[1]


def sums_of_scores(
    scores: Tensor,
    in_image: Booleans,
    image: Tensor,
    sentence: Tensor,
    sentences: int,
    *,
    best_region: bool = False,
    truncated: bool = False,
) -> Tensor:
    """(I, S) sums of the scores (m, n) of fragments over those of each image and each sentence.

    The regions exist at `in_image` (I, R); (m,) and (n,) say which image and which of the `sentences` each fragment
    belongs to. With `best_region` they are the sums over each sentence fragment's best region, of which every image has
    one. With `truncated` a negative score counts as 0.
    """
    counted = scores.relu() if truncated else scores
    if best_region:
        of_images = place_rows(counted, in_image, -torch.inf).amax(dim=1)
    else:
        of_images = _sum_by_owner(counted, image, len(in_image))
    return _sum_by_owner(of_images.T, sentence, sentences).T


def sums_of_all_pairs(
    regions: Tensor,
    in_image: Tensor,
    fragments: Tensor,
    in_sentence: Tensor,
    *,
    best_region: bool = False,
    truncated: bool = False,
) -> Tensor:
    """(I, S) double sums of the fragments (I, R, D) and (S, T, D) that exist, some images and sentences at a time.

    `best_region` and `truncated` are those of `sums_of_scores`.
    """
    of_images_exist, of_sentences_exist = masks_on_host(in_image, in_sentence)
    sums = fragments.new_zeros(len(in_image), len(in_sentence))
    for some in _blocks(of_sentences_exist, FRAGMENTS_AT_ONCE):
        of_sentences, sentence = existing_fragments(fragments[some], of_sentences_exist[some])
        count = len(of_sentences_exist[some])
        for block in _blocks(of_images_exist, SCORES_AT_ONCE // max(1, len(of_sentences))):
            of_images, image = existing_fragments(regions[block], of_images_exist[block])
            sums[block, some] = sums_of_scores(
                of_images @ of_sentences.T,
                of_images_exist[block],
                image,
                sentence,
                count,
                best_region=best_region,
                truncated=truncated,
            )
    return sums


def _sum_by_owner(rows: Tensor, owner: Tensor, owners: int) -> Tensor:
    """(owners, ...) sums of the rows that belong to each owner."""
    return rows.new_zeros(owners, *rows.shape[1:]).index_add(0, owner, rows)


def _blocks(present: Booleans, fragments: int) -> Iterator[slice]:
    """Consecutive lists (rows of `present`) with at most so many fragments together; one list may have more."""
    ends = present.sum(axis=1).cumsum()
    start = before = 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, before + fragments, side="right")))
        yield slice(start, stop)
        start, before = stop, int(ends[stop - 1])

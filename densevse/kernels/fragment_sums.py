"""Sums of fragment scores for all pairs of images and sentences, by one matrix product of all fragments.

    sum_{i in g_k} sum_{j in g_l} max(0, v_i . s_j)    the double sum of DeFrag's Eq 6, by two segmented sums
    sum_{j in g_l} max_{i in g_k} v_i . s_j            the sum over each sentence fragment's best region

Each is computed with and without the truncation max(0, .).

The fragments that exist are stored list after list (image after image, or sentence after sentence). The CPU plans their
places, so that the host waits for a GPU at most once.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.arrays import Booleans, Integers, on_device

# While all pairs are scored: fragment scores in memory at a time, and sentence fragments that they are of. A matrix
# product of a few regions with very many fragments would take twice as long.
SCORES_AT_ONCE, FRAGMENTS_AT_ONCE = 1 << 20, 1 << 11


def owners(lengths: Integers) -> Integers:
    """The list that each item belongs to, where items are stored list after list: sizes 2, 0, 1 give 0, 0, 2."""
    return np.repeat(np.arange(len(lengths)), lengths)


def on_host(*masks: Tensor) -> list[Booleans]:
    """Boolean masks as NumPy arrays, moved by one copy."""
    copied = torch.cat([mask.flatten() for mask in masks]).cpu().split([mask.numel() for mask in masks])
    return [part.view(mask.shape).numpy() for part, mask in zip(copied, masks, strict=True)]


def taken(table: Tensor, present: Booleans) -> Tensor:
    """The rows (n, ...) of a table (I, R, ...) at the places that are `present` (I, R)."""
    return table.flatten(0, 1).index_select(0, on_device(np.flatnonzero(present), table.device))


def placed(rows: Tensor, present: Booleans, elsewhere: float = 0.0) -> Tensor:
    """The inverse of `taken`: a table (I, R, ...) with the rows (n, ...) at these places and 0, or another number."""
    empty = rows.new_full((present.size, *rows.shape[1:]), elsewhere)
    table: Tensor = empty.index_copy(0, on_device(np.flatnonzero(present), rows.device), rows)
    return table.view(*present.shape, *rows.shape[1:])


def existing(vectors: Tensor, present: Booleans) -> tuple[Tensor, Tensor]:
    """The (n, D) fragments of (I, R, D) that are `present` (I, R), and the (n,) image or sentence of each."""
    return taken(vectors, present), on_device(owners(present.sum(axis=1)), vectors.device)


def double_sums(scores: Tensor, image: Tensor, sentence: Tensor, pairs: torch.Size) -> Tensor:
    """(I, S) sums of the scores over the fragments of each image and each sentence.

    `scores` (m, n) are those of the fragments; (m,) and (n,) say which image and which sentence each belongs to;
    `pairs` is (I, S).
    """
    images, sentences = pairs
    of_images = _summed(scores, image, images)
    return _summed(of_images.T, sentence, sentences).T


def best_region_sums(scores: Tensor, in_image: Booleans, sentence: Tensor, sentences: int) -> Tensor:
    """(I, S) sums over the fragments of each sentence of their score with the best region of each image.

    `scores` (m, n) are those of the fragments; the regions exist at `in_image` (I, R), and (n,) says which of the
    `sentences` each fragment belongs to. Every image has a region.
    """
    best = placed(scores, in_image, -torch.inf).amax(dim=1)
    return _summed(best.T, sentence, sentences).T


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

    With `best_region` they are the sums over each sentence fragment's best region. With `truncated` a negative product
    counts as 0.
    """
    of_images_exist, of_sentences_exist = on_host(in_image, in_sentence)
    sums = fragments.new_zeros(len(in_image), len(in_sentence))
    for some in _blocks(of_sentences_exist, FRAGMENTS_AT_ONCE):
        of_sentences, sentence = existing(fragments[some], of_sentences_exist[some])
        count = len(of_sentences_exist[some])
        for block in _blocks(of_images_exist, SCORES_AT_ONCE // max(1, len(of_sentences))):
            of_images, image = existing(regions[block], of_images_exist[block])
            scores = of_images @ of_sentences.T
            if truncated:
                scores = scores.relu()
            if best_region:
                sums[block, some] = best_region_sums(scores, of_images_exist[block], sentence, count)
            else:
                sums[block, some] = double_sums(scores, image, sentence, sums[block, some].shape)
    return sums


def _summed(rows: Tensor, owner: Tensor, owners: int) -> Tensor:
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

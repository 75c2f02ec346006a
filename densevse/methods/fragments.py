"""Fragments of images and sentences, for DeFrag, the methods it is compared with, and SCAN."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from densevse.kernels.arrays import Booleans, Integers, tensor_on_device
from densevse.kernels.fragment_sums import owners, place_rows, take_rows
from densevse.methods.interface import Images
from densevse.methods.structures import Triplets, Words


class Fragments(NamedTuple):
    """The fragments of I images, at most R each, or of S sentences."""

    vectors: Tensor  # (I, R, dimension) zero where there is none
    present: Tensor  # (I, R) bool: which of them exist


def image_fragments(images: Images, network: nn.Module | None = None) -> tuple[Tensor, Tensor]:
    """The CNN's vectors of whole image and detections (DeFrag, section 3.2), or of the whole image alone.

    With a `network`, it computes the vectors from the view `crops`. Returns the vectors (I, R, D), and (I, R) bool,
    true where a fragment exists.
    """
    if network is not None:
        present = images.present_on_host()
        return place_rows(network(take_rows(images.views["crops"], present)), present), images.present
    if "regions" in images.views:
        return images.views["regions"], images.present
    whole = images.views["whole"].unsqueeze(1)
    return whole, torch.ones(whole.shape[:2], dtype=torch.bool, device=whole.device)


def bag_of_words(words: Words) -> Triplets:
    """Every word as a fragment: w1 = w2 in Eq 1, with one relation (DeFrag, section 4.2)."""
    table, lengths = words.index_on_host(), words.lengths_on_host()
    word = table[length_mask(lengths, table.shape[1])]
    return Triplets(np.zeros_like(word), word, word, lengths)


def bigrams(words: Words) -> Triplets:
    """Consecutive words as w1 and w2 of Eq 1, with one relation (DeFrag, section 4.2); a single word has none."""
    table, pairs = words.index_on_host(), np.maximum(words.lengths_on_host() - 1, 0)
    found = length_mask(pairs, table.shape[1] - 1)
    first, second = table[:, :-1][found], table[:, 1:][found]
    return Triplets(np.zeros_like(first), first, second, pairs)


def drop_unknown_words(triplets: Triplets, known: Booleans) -> Triplets:
    """Drops triplets with an unknown word; `known` (words,) says which words of the vocabulary are known."""
    kept = known[triplets.governor] & known[triplets.dependent]
    lengths = np.bincount(owners(triplets.lengths)[kept], minlength=len(triplets.lengths))
    return Triplets(triplets.relation[kept], triplets.governor[kept], triplets.dependent[kept], lengths)


def pad_rows(rows: Tensor, lengths: Integers) -> tuple[Tensor, Tensor]:
    """Rows (n, H) stored list after list, padded with zeros to (lists, longest, H), and a mask of those that exist."""
    present = length_mask(lengths)
    return place_rows(rows, present), tensor_on_device(present, rows.device)


def length_mask(lengths: Integers, longest: int | None = None) -> Booleans:
    """(S, longest) bool: true at the first `lengths` places of each row, by default of the longest of them."""
    return np.arange(lengths.max() if longest is None else longest) < lengths[:, None]

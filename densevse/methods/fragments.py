"""The fragments of images and sentences that DeFrag, the methods it is compared with, and SCAN read."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from densevse.kernels.fragment_sums import owners
from densevse.methods.interface import Images
from densevse.methods.structures import Triplets, Words


class Fragments(NamedTuple):
    """The fragments of I images, R each at most, or of S sentences."""

    vectors: Tensor  # (I, R, dimension) zero where there is none
    present: Tensor  # (I, R) bool: which of them exist


def image_fragments(images: Images, network: nn.Module | None = None) -> tuple[Tensor, Tensor]:
    """The CNN's vectors of whole image and detections (DeFrag, section 3.2), or of the whole image alone.

    With a `network`, its vectors of the view `crops`. Returns (I, R, D), and (I, R) bool: which of them exist.
    """
    if network is not None:
        return placed(network(images.views["crops"][images.present]), images.present), images.present
    if "regions" in images.views:
        return images.views["regions"], images.present
    whole = images.views["whole"].unsqueeze(1)
    return whole, torch.ones(whole.shape[:2], dtype=torch.bool, device=whole.device)


def bag_of_words(words: Words) -> Triplets:
    """Every word as a fragment: w1 = w2 in Eq 1, of one relation (DeFrag, section 4.2)."""
    word = words.index[_places(words.index, words.lengths)]
    return Triplets(torch.zeros_like(word), word, word, words.lengths)


def bigrams(words: Words) -> Triplets:
    """Consecutive words as w1 and w2 of Eq 1, of one relation (DeFrag, section 4.2). One word alone has none."""
    pairs = (words.lengths - 1).clamp(min=0)
    first, second = words.index[:, :-1], words.index[:, 1:]
    found = _places(first, pairs)
    return Triplets(torch.zeros_like(first[found]), first[found], second[found], pairs)


def without_unknown_words(triplets: Triplets, known: Tensor) -> Triplets:
    """Only the triplets of which both words are known; `known` (words,) bool is that of the vocabulary."""
    kept = known[triplets.governor] & known[triplets.dependent]
    sentence = owners(triplets.lengths)[kept]
    lengths = torch.bincount(sentence, minlength=len(triplets.lengths))
    return Triplets(triplets.relation[kept], triplets.governor[kept], triplets.dependent[kept], lengths)


def padded(rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Rows that stand list after list, (n, H), as (lists, longest, H) with zeros, and which of them exist."""
    present = torch.arange(int(lengths.amax()), device=lengths.device) < lengths.unsqueeze(1)
    return placed(rows, present), present


def placed(rows: Tensor, present: Tensor) -> Tensor:
    """(I, R, H) with the rows (n, H) at the n places that are `present` (I, R), and zeros elsewhere."""
    return rows.new_zeros(*present.shape, rows.shape[1]).index_put((present,), rows)


def _places(table: Tensor, lengths: Tensor) -> Tensor:
    """(S, longest) bool: the first `lengths` places of each row of `table` (S, longest, ...)."""
    return torch.arange(table.shape[1], device=table.device) < lengths.unsqueeze(1)

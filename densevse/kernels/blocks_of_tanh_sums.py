"""The sums of `tanh_sums` by PyTorch alone, in blocks of pairs: what a GPU computes without Triton.

The functions take the same as those of fused_tanh_sums.py.
"""

import torch
from torch import Tensor

from densevse.kernels.pairs import Grouped
from densevse.runtime.on_gpu import numbers_at_once


def compute_sums(keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped) -> Tensor:
    """(P, C) sums of weight * tanh(x + y) over units."""
    own, asked = pairs.slots.owner_values(keys), pairs.slots.pad_rows(queries)
    with torch.autocast(keys.device.type, enabled=False):  # the product keeps float32
        blocks = [_reciprocals(own, some) @ weight for some in asked.split(_pair_limit(own), dim=1)]
    return pairs.slots.unpad_rows(torch.cat(blocks, dim=1)).mul(-2).add_(weight.sum())


def compute_gradients(
    keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of keys, queries and weight, from that of the sums, (P, C)."""
    slots, found = pairs.slots, []
    own = slots.owner_values(keys)
    of_weight, of_own, step = torch.zeros_like(weight), torch.zeros_like(own), _pair_limit(own)
    asked, of_sums = (slots.pad_rows(part).split(step, dim=1) for part in (queries, gradient))
    for some, of_some in zip(asked, of_sums, strict=True):
        r = _reciprocals(own, some)
        weighted = r * of_some.unsqueeze(3)  # zero in empty slots
        of_weight += weighted.sum(dim=(0, 1, 2))
        weighted.addcmul_(weighted, r, value=-1)
        of_own += weighted.sum(dim=1)
        found.append(weighted.sum(dim=2))
    of_keys, twice = torch.zeros_like(keys), 2 * weight
    if slots.images is None:
        of_keys[: slots.owners] = of_own
    else:
        of_keys.index_copy_(0, slots.images, of_own)
    of_queries = slots.unpad_rows(torch.cat(found, dim=1))
    return of_keys.mul_(twice).div_(keys), of_queries.mul(twice).div_(queries), gradient.sum() - 2 * of_weight


def _reciprocals(keys: Tensor, queries: Tensor) -> Tensor:
    """1 / (1 + e^2(x + y)) of images' candidates (G, C, units) with n pairs of each (G, n, units): (G, n, C, units)."""
    return torch.addcmul(keys.new_ones(()), keys.unsqueeze(1), queries.unsqueeze(2)).reciprocal_()


def _pair_limit(keys: Tensor) -> int:
    """The number of pairs of each image that are computed at once, which bounds memory."""
    return max(1, numbers_at_once(keys.device, on_cpu=1 << 26) // max(1, keys.numel()))

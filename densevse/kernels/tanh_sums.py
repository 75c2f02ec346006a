"""Sums of w tanh(x + y) over units, for pairs of one vector y with many vectors x: the costly part of Eq 2 of sm-LSTM.

As tanh(x + y) = 1 - 2 / (1 + e^2x e^2y), both exponentials are computed once, not for every pair: a unit of a pair and
candidate costs a product and a reciprocal. The terms, pairs x candidates x units, are never kept: the gradient computes
them again. On a CPU, loops compiled by Numba hold them in registers, which takes less than a tenth of the time that
PyTorch takes for the same in blocks that fit into a cache. On a GPU, kernels in Triton do (fused_tanh_sums.py).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import numba
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from densevse.kernels.arrays import to_float32
from densevse.kernels.pairs import Grouped, uses_slots
from densevse.runtime.on_gpu import is_plain

# Each of the two terms under the tanh is limited to +-10. Beyond, the tanh of either alone is 1 to the last bit of
# single precision; within, the product of the exponentials of two units stays finite.
TANH_LIMIT = 10.0
# Numba may reorder sums and approximate reciprocals, but must keep numbers that are not finite.
_FAST = {"reassoc", "arcp", "contract", "nsz"}


def exponential(x: Tensor) -> Tensor:
    """e^2x with x limited; for an x in half precision, as under autocast, in float32."""
    return to_float32(x).clamp(-TANH_LIMIT, TANH_LIMIT).mul(2).exp()


def tanh_sums(keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped) -> Tensor:
    """The sums of weight * tanh(x + y) over units: (P, C).

    `keys` (N, C, units) are e^2x of the candidates of images (or sentences), `queries` (P, units) are e^2y of pairs in
    the order of `pairs`.
    """
    sums: Tensor = _TanhSums.apply(keys.contiguous(), queries, weight, pairs)
    return sums


class _TanhSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped) -> Tensor:
        ctx.save_for_backward(keys, queries, weight)
        ctx.pairs = pairs
        if _is_compiled(keys):
            sums = queries.new_empty(len(queries), keys.shape[1])
            arrays = (tensor.detach().numpy() for tensor in (keys, queries, weight, pairs.owner, sums))
            _run_in_threads(_forward, len(queries), *arrays, _one(keys))
            return sums.mul_(-2).add_(weight.sum())
        found: Tensor = _gpu_module().compute_sums(keys, queries.contiguous(), weight, pairs)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        (keys, queries, weight), pairs = ctx.saved_tensors, ctx.pairs
        if not _is_compiled(keys):
            return *_gpu_module().compute_gradients(keys, queries.contiguous(), weight, pairs, gradient), None
        # Of the sums over units of weight / (1 + key * query): the gradients of weight, and without the factor weight
        # those of log key and log query.
        of_weight = keys.new_zeros(len(pairs.runs), len(weight))
        of_keys, of_queries = torch.zeros_like(keys), torch.zeros_like(queries)
        tensors = (keys, queries, gradient.contiguous(), of_keys, of_queries, of_weight)
        arrays = (tensor.detach().numpy() for tensor in tensors)
        owners, starts = (part.numpy() for part in pairs.spans)
        _run_in_threads(_backward, len(pairs.runs), *arrays, owners, starts, _one(keys))
        twice = 2 * weight
        of_keys.mul_(twice).div_(keys)
        of_queries.mul_(twice).div_(queries)
        return of_keys, of_queries, gradient.sum() - 2 * of_weight.sum(dim=0), None


def _is_compiled(keys: Tensor) -> bool:
    return not uses_slots(keys)


def _gpu_module() -> ModuleType:
    """The module that computes the sums on a GPU; only there is Triton imported, which takes a while."""
    if is_plain("tanh_sums"):
        from densevse.kernels import blocks_of_tanh_sums

        return blocks_of_tanh_sums
    from densevse.kernels import fused_tanh_sums

    return fused_tanh_sums


def _one(like: Tensor) -> Any:
    """1 in the precision of a tensor, so that the loops compute in it."""
    return torch.ones((), dtype=like.dtype).numpy()[()]


def _run_in_threads(loop: Callable[..., None], items: int, *given: Any) -> None:
    """Runs a compiled loop over all items, in as many threads as PyTorch uses, each with a part of them.

    Numba's own parallel loops are not used: a process that compiled them rounded differently from one that found them
    in Numba's cache (0.68), so that the first training in a new checkout gave another model than the second.
    """
    threads = torch.get_num_threads()
    ends = [items * thread // threads for thread in range(threads + 1)]
    for part in [_pool(threads).submit(loop, *given, *some) for some in pairwise(ends)]:
        part.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="tanh_sums")


# By Numba's default error model each division asks whether it is by zero, which keeps loops from vector instructions.
_compiled: Callable[[Callable[..., None]], Callable[..., None]] = numba.njit(
    nogil=True, error_model="numpy", fastmath=_FAST, cache=True
)


@_compiled
def _forward(keys: Any, queries: Any, weight: Any, owner: Any, sums: Any, one: Any, first: int, stop: int) -> None:
    # Two units share one division, which takes most of the time: w / a + v / b = (w b + v a) / (a b).
    half, odd = divmod(keys.shape[2], 2)
    for pair in range(first, stop):
        query, candidates = queries[pair], keys[owner[pair]]
        for candidate in range(len(candidates)):
            key = candidates[candidate]
            total = one - one
            for unit in range(half):
                other = half + unit
                a = one + key[unit] * query[unit]
                b = one + key[other] * query[other]
                total += (weight[unit] * b + weight[other] * a) / (a * b)
            if odd:
                total += weight[-1] / (one + key[-1] * query[-1])
            sums[pair, candidate] = total


@_compiled
def _backward(
    keys: Any,
    queries: Any,
    gradient: Any,
    of_keys: Any,
    of_queries: Any,
    of_weight: Any,
    owners: Any,
    starts: Any,
    one: Any,
    first: int,
    stop: int,
) -> None:
    for run in range(first, stop):
        candidates, of_candidates, of_own_weight = keys[owners[run]], of_keys[owners[run]], of_weight[run]
        for pair in range(starts[run], starts[run + 1]):
            query, of_query = queries[pair], of_queries[pair]
            for candidate in range(len(candidates)):
                of_sum = gradient[pair, candidate]
                if of_sum == 0:  # padding
                    continue
                key, of_key = candidates[candidate], of_candidates[candidate]
                for unit in range(len(key)):
                    r = one / (one + key[unit] * query[unit])
                    weighted = of_sum * r
                    of_own_weight[unit] += weighted
                    inner = weighted - weighted * r
                    of_key[unit] += inner
                    of_query[unit] += inner

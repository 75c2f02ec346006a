"""The sums of `tanh_sums` on a GPU: kernels in Triton that keep the terms, pairs x candidates x units, in registers.

Each program adds in a fixed order and writes what no other one writes, so two runs give the same bits. The gradient
computes the terms twice, once for the keys (and the weight) and once for the queries. Imported only where a GPU is.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from densevse.kernels.pairs import Grouped

# Triton would compile a kernel again for a size that is a multiple of 16; the words of the longest sentence vary.
_COUNTS = ["candidates"]


def compute_sums(keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped) -> Tensor:
    """(P, C) sums of weight * tanh(x + y) over units; the arguments are those of `tanh_sums`."""
    owners, starts = pairs.spans
    _, candidates, units = keys.shape
    sums = queries.new_empty(len(queries), candidates)
    # A program reads a unit of many candidates or pairs at once, so these stand side by side.
    given = keys.transpose(1, 2).contiguous(), queries.t().contiguous(), weight, starts, owners
    grid = len(owners), triton.cdiv(pairs.slots.width, 32), triton.cdiv(candidates, 64)
    _sums[grid](*given, sums, len(queries), candidates, units, PAIRS=32, CANDIDATES=64)
    return sums


def compute_gradients(
    keys: Tensor, queries: Tensor, weight: Tensor, pairs: Grouped, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of keys, queries and weight, from that of the sums, (P, C)."""
    owners, starts = pairs.spans
    _, candidates, units = keys.shape
    of_keys = torch.empty_like(keys) if len(owners) == len(keys) else torch.zeros_like(keys)
    of_queries = torch.empty_like(queries)
    of_weight = weight.new_empty(len(owners), candidates, units)
    given = keys, queries, weight, gradient.contiguous(), starts, owners
    width = triton.cdiv(units, 128)
    _key_gradients[len(owners), triton.cdiv(candidates, 16), width](
        *given, of_keys, of_weight, candidates, units, CANDIDATES=16, UNITS=128
    )
    grid = len(owners), triton.cdiv(pairs.slots.width, 16), width
    _query_gradients[grid](*given, of_queries, candidates, units, PAIRS=16, UNITS=128)
    return of_keys, of_queries, gradient.sum() - 2 * of_weight.sum(dim=(0, 1))


@triton.jit(do_not_specialize=_COUNTS)
def _sums(
    keys,  # (N, units, candidates)
    queries,  # (units, pairs)
    weight,
    starts,
    owners,
    sums,
    pairs,
    candidates,
    units,
    PAIRS: tl.constexpr,
    CANDIDATES: tl.constexpr,
):
    group = tl.program_id(0)
    stop = tl.load(starts + group + 1)
    pair = (tl.load(starts + group) + tl.program_id(1) * PAIRS + tl.arange(0, PAIRS))[:, None]
    candidate = (tl.program_id(2) * CANDIDATES + tl.arange(0, CANDIDATES))[None, :]
    own = keys + tl.load(owners + group) * units * candidates + candidate
    whole = tl.full((1, 1), 0, keys.dtype.element_ty)
    total = tl.full((PAIRS, CANDIDATES), 0, keys.dtype.element_ty)
    for unit in range(units):
        key = tl.load(own + unit * candidates, mask=candidate < candidates, other=0)
        query = tl.load(queries + unit * pairs + pair, mask=pair < stop, other=0)
        factor = tl.load(weight + unit)
        whole += factor
        total += factor / (1 + key * query)
    there = (pair < stop) & (candidate < candidates)
    tl.store(sums + pair * candidates + candidate, whole - 2 * total, mask=there)


@triton.jit(do_not_specialize=_COUNTS)
def _key_gradients(
    keys,
    queries,
    weight,
    gradient,
    starts,
    owners,
    of_keys,
    of_weight,  # (groups, candidates, units), to be added up
    candidates,
    units,
    CANDIDATES: tl.constexpr,
    UNITS: tl.constexpr,
):
    group = tl.program_id(0)
    candidate = (tl.program_id(1) * CANDIDATES + tl.arange(0, CANDIDATES))[:, None]
    unit = (tl.program_id(2) * UNITS + tl.arange(0, UNITS))[None, :]
    there = (candidate < candidates) & (unit < units)
    place = (tl.load(owners + group) * candidates + candidate) * units + unit
    key = tl.load(keys + place, mask=there, other=1)
    total = tl.full((CANDIDATES, UNITS), 0, keys.dtype.element_ty)
    of_own_weight = tl.full((CANDIDATES, UNITS), 0, keys.dtype.element_ty)
    for pair in range(tl.load(starts + group), tl.load(starts + group + 1)):
        query = tl.load(queries + pair * units + unit, mask=unit < units, other=0)
        of_sum = tl.load(gradient + pair * candidates + candidate, mask=candidate < candidates, other=0)
        r = 1 / (1 + key * query)
        weighted = of_sum * r
        of_own_weight += weighted
        total += weighted - weighted * r
    factor = tl.load(weight + unit, mask=unit < units, other=0)
    tl.store(of_keys + place, 2 * factor * total / key, mask=there)
    tl.store(of_weight + (group * candidates + candidate) * units + unit, of_own_weight, mask=there)


@triton.jit(do_not_specialize=_COUNTS)
def _query_gradients(
    keys,
    queries,
    weight,
    gradient,
    starts,
    owners,
    of_queries,
    candidates,
    units,
    PAIRS: tl.constexpr,
    UNITS: tl.constexpr,
):
    group = tl.program_id(0)
    stop = tl.load(starts + group + 1)
    pair = (tl.load(starts + group) + tl.program_id(1) * PAIRS + tl.arange(0, PAIRS))[:, None]
    unit = (tl.program_id(2) * UNITS + tl.arange(0, UNITS))[None, :]
    there = (pair < stop) & (unit < units)
    query = tl.load(queries + pair * units + unit, mask=there, other=1)
    own = keys + tl.load(owners + group) * candidates * units + unit
    total = tl.full((PAIRS, UNITS), 0, keys.dtype.element_ty)
    for candidate in range(candidates):
        key = tl.load(own + candidate * units, mask=unit < units, other=0)
        of_sum = tl.load(gradient + pair * candidates + candidate, mask=pair < stop, other=0)
        r = 1 / (1 + key * query)
        weighted = of_sum * r
        total += weighted - weighted * r
    factor = tl.load(weight + unit, mask=unit < units, other=0)
    tl.store(of_queries + pair * units + unit, 2 * factor * total / query, mask=there)

"""A function of many rows whose activations are never all kept: the gradient computes them again, where it is not 0."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Encoding: TypeAlias = tuple[Tensor, ...]
Compare: TypeAlias = Callable[[Encoding, Encoding, Tensor, Tensor], Tensor]


def scores_of_pairs(
    compare: Compare,
    images: Encoding,
    sentences: Encoding,
    pairs: tuple[Tensor, Tensor],
    weights: list[Tensor],
    at_once: int,
) -> Tensor:
    """`compare(images, sentences, *pairs)`, (P,), computed `at_once` pairs after the other.

    `pairs` are rows of `images` and `sentences`, (P,) each. The function's activations live only while its pairs are
    computed, so memory is bounded by `at_once`. For the gradient, pairs are compared again, but only those that the
    loss depends on: with hinges, most pairs cost nothing after some training and are compared only once. `weights`
    are the parameters that `compare` uses besides the encodings.
    """
    scores: Tensor = _Scores.apply(  # type: ignore[no-untyped-call]
        compare, pairs, at_once, len(images), len(sentences), *images, *sentences, *weights
    )
    return scores


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        compare: Compare,
        pairs: tuple[Tensor, Tensor],
        at_once: int,
        images: int,
        sentences: int,
        *given: Tensor,
    ) -> Tensor:
        ctx.compare, ctx.at_once, ctx.images, ctx.sentences = compare, at_once, images, sentences
        ctx.save_for_backward(*pairs, *given)
        encoded = given[:images], given[images : images + sentences]
        chunks = zip(*(rows.split(at_once) for rows in pairs), strict=True)
        return torch.cat([compare(*encoded, *chunk) for chunk in chunks])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        image, sentence, *given = ctx.saved_tensors
        wanted = ctx.needs_input_grad[5:]
        encodings = ctx.images + ctx.sentences
        # Encodings are cut from their history; parameters are the leaves that `compare` itself uses.
        fresh = [
            tensor.detach().requires_grad_(needed) if place < encodings else tensor
            for place, (tensor, needed) in enumerate(zip(given, wanted, strict=True))
        ]
        leaves = [tensor for tensor, needed in zip(fresh, wanted, strict=True) if needed]
        totals: list[Tensor | None] = [None] * len(leaves)
        depended_on = gradient.nonzero().squeeze(1)
        for rows in depended_on.split(ctx.at_once) if len(depended_on) else ():
            with torch.enable_grad():
                scores = ctx.compare(
                    tuple(fresh[: ctx.images]), tuple(fresh[ctx.images : encodings]), image[rows], sentence[rows]
                )
            found = torch.autograd.grad(scores, leaves, gradient[rows], allow_unused=True)
            totals = [_added(total, part) for total, part in zip(totals, found, strict=True)]
        remaining = iter(totals)
        return (*[None] * 5, *(next(remaining) if needed else None for needed in wanted))


def _added(total: Tensor | None, part: Tensor | None) -> Tensor | None:
    if total is None or part is None:
        return total if part is None else part
    return total + part

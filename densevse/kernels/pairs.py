"""Scores many pairs, in bounded memory, with a function that compares a few.

A method that attends to an image's cells and a sentence's words at once must compare each pair. Its
`compare(images, sentences, image, sentence, longest)` gives the (P,) scores of pairs of the given rows, (P,) each, of
two encodings: named tuples of tensors that all begin with the image, or with the sentence. The longest of the pairs'
sentences has `longest` words. Rows and lengths are on the CPU, so that the host does not wait for a GPU.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Compare: TypeAlias = Callable[[Any, Any, Tensor, Tensor, int], Tensor]


def scores_of_all_pairs(compare: Compare, images: Any, sentences: Any, lengths: Tensor, at_once: int) -> Tensor:
    """(I, S) scores of all pairs, computed in tiles of at most `at_once` pairs.

    `lengths` (S,) are the lengths of the sentences, on the CPU. Sentences of similar length share a tile, which saves
    padding.
    """
    by_length = lengths.argsort(stable=True)
    edge = math.isqrt(at_once)
    scores: Tensor = images[0].new_empty(len(images[0]), len(by_length))
    for chosen in by_length.split(edge):
        longest, columns = int(lengths[chosen].max()), chosen.to(scores.device, non_blocking=True)
        some_sentences = type(sentences)(*(part[columns] for part in sentences))
        for first in range(0, len(scores), edge):
            some_images = type(images)(*(part[first : first + edge] for part in images))
            pairs = torch.cartesian_prod(torch.arange(len(some_images[0])), torch.arange(len(columns)))
            found = compare(some_images, some_sentences, pairs[:, 0], pairs[:, 1], longest)
            scores[first : first + edge, columns] = found.view(-1, len(columns))
    return scores


def scores_of_pairs(
    compare: Compare,
    images: Any,
    sentences: Any,
    pairs: tuple[Tensor, Tensor],
    lengths: Tensor,
    weights: list[Tensor],
    at_once: int,
) -> Tensor:
    """(P,) scores by `compare(images, sentences, *pairs, longest)`, computed `at_once` pairs at a time.

    `pairs` are rows of `images` and `sentences`, (P,) each, and `lengths` (S,) are the sentences' lengths, all on the
    CPU. Activations exist only while their pairs are computed, so `at_once` bounds the memory. The gradient compares
    again only the pairs that the loss depends on: with hinges, most pairs cost nothing after some training. `weights`
    are the parameters that `compare` uses besides the encodings.
    """

    def of_parts(parts: tuple[Tensor, ...], image: Tensor, sentence: Tensor) -> Tensor:
        of_images, of_sentences = parts[: len(images)], parts[len(images) :]
        longest = int(lengths[sentence].max())
        return compare(type(images)(*of_images), type(sentences)(*of_sentences), image, sentence, longest)

    encoded = len(images) + len(sentences)
    scores: Tensor = _Scores.apply(of_parts, pairs, at_once, encoded, *images, *sentences, *weights)  # type: ignore[no-untyped-call]
    return scores


class _Scores(torch.autograd.Function):
    """The scores as an autograd function that saves only its inputs and compares again the pairs with a gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        compare: Callable[[tuple[Tensor, ...], Tensor, Tensor], Tensor],
        pairs: tuple[Tensor, Tensor],
        at_once: int,
        encoded: int,
        *given: Tensor,
    ) -> Tensor:
        ctx.compare, ctx.pairs, ctx.at_once, ctx.encoded = compare, pairs, at_once, encoded
        ctx.save_for_backward(*given)
        chunks = zip(*(rows.split(at_once) for rows in pairs), strict=True)
        return torch.cat([compare(given[:encoded], *chunk) for chunk in chunks])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (image, sentence), given = ctx.pairs, ctx.saved_tensors
        wanted = ctx.needs_input_grad[4:]
        # Encodings are detached; parameters are the leaves that `compare` itself uses.
        fresh = [
            tensor.detach().requires_grad_(needed) if place < ctx.encoded else tensor
            for place, (tensor, needed) in enumerate(zip(given, wanted, strict=True))
        ]
        leaves = [tensor for tensor, needed in zip(fresh, wanted, strict=True) if needed]
        totals: list[Tensor | None] = [None] * len(leaves)
        depended_on = (gradient != 0).cpu().nonzero().squeeze(1)  # the only line where a step waits for a GPU
        for rows in depended_on.split(ctx.at_once) if len(depended_on) else ():
            with torch.enable_grad():
                scores = ctx.compare(tuple(fresh[: ctx.encoded]), image[rows], sentence[rows])
            of_scores = gradient[rows.to(gradient.device, non_blocking=True)]
            found = torch.autograd.grad(scores, leaves, of_scores, allow_unused=True)
            totals = [_added(total, part) for total, part in zip(totals, found, strict=True)]
        remaining = iter(totals)
        return (*[None] * 4, *(next(remaining) if needed else None for needed in wanted))


def _added(total: Tensor | None, part: Tensor | None) -> Tensor | None:
    if total is None or part is None:
        return total if part is None else part
    return total + part

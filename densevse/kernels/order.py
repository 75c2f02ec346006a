"""Scores of order embeddings (Vendrov et al., ICLR 2016) for all pairs, in bounded memory."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def order_scores(images: Tensor, sentences: Tensor) -> Tensor:
    """Minus the order-violation penalty, -||max(0, v - u)||^2 (Vendrov et al. 2016, Eq 2 and section 5.1).

    A sentence v is more general than an image u that it describes, so it should be below it in every coordinate.
    Takes (I, D) and (S, D) and returns (I, S). It needs only a few megabytes more, for its gradient too.
    """
    scores: Tensor = _OrderScores.apply(images, sentences)
    return scores


class _OrderScores(torch.autograd.Function):
    """The scores as an autograd function over a few images at a time: all (I, S, D) differences exceed a cache."""

    ELEMENTS = 1 << 20

    @staticmethod
    def blocks(images: Tensor, sentences: Tensor) -> list[slice]:
        step = max(1, _OrderScores.ELEMENTS // max(1, sentences.numel()))
        return [slice(start, start + step) for start in range(0, len(images), step)]

    @staticmethod
    def forward(ctx: Any, images: Tensor, sentences: Tensor) -> Tensor:
        ctx.save_for_backward(images, sentences)
        scores = images.new_empty(len(images), len(sentences))
        for block in _OrderScores.blocks(images, sentences):
            violation = (sentences - images[block].unsqueeze(1)).clamp_(min=0)
            scores[block] = violation.square_().sum(dim=2).neg_()
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        images, sentences = ctx.saved_tensors
        of_images, of_sentences = torch.empty_like(images), torch.zeros_like(sentences)
        for block in _OrderScores.blocks(images, sentences):
            violation = (sentences - images[block].unsqueeze(1)).clamp_(min=0)
            violation *= gradient[block].unsqueeze(2)
            of_images[block] = violation.sum(dim=1).mul_(2)
            of_sentences -= violation.sum(dim=0).mul_(2)
        return of_images, of_sentences

"""Scores of all pairs by stacked cross attention (SCAN), from similarities and Gram matrices alone.

Each query q of one side (a word, for t-i) attends to the contexts c of the other (the regions), and is compared with
what it attends to, sum_c a_c v_c. That vector is never made: its product with q is sum_c a_c s_qc, and its squared norm
is a^T G a, with the Gram matrix G of the contexts. So the similarities of a block of images with a block of sentences
are one matrix product, and all that follows is of their size; on the CPU the sentences of a block are of one length.

A ranking loss by the hardest negatives depends on few pairs: the gradient compares these again and no others. Where it
depends on many, whole blocks are compared again.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from densevse.runtime.on_gpu import numbers_at_once

SIMILARITIES_AT_ONCE = 1 << 20  # pairs in a block while all pairs are scored, on a CPU
IMAGES_OF_BLOCK = 32  # of a block, on a CPU
IMAGES_ON_GPU = 256  # of a block, where memory is for larger ones
PAIRS_AT_ONCE = 512  # pairs that are compared again at a time for the gradient
FEW_PAIRS = 0.1  # if a larger share of the pairs has a gradient, whole blocks are compared again
_SMALL = 1e-8

FeatureNorm = Literal["clipped_l2norm", "l2norm", "clipped_l1norm", "l1norm", "clipped", "softmax", "no_norm"]


class CrossAttention(NamedTuple):
    """The direction of attention and its settings."""

    direction: Literal["t2i", "i2t"]  # words attend to regions, or regions to words
    norm: FeatureNorm  # of the similarities of each context with all queries of the other side
    slope: float  # of clipped similarities below 0
    temperature: float  # lambda_1, the inverse temperature of the softmax over contexts
    pooling: Literal["lse", "avg"]  # of the queries' scores
    sharpness: float  # lambda_2 of LSE


class AttentionSide(NamedTuple):
    """The fragments of some images, or of some sentences."""

    vectors: Tensor  # (N, n, D) of unit norm
    present: Tensor  # (N, n) bool: which of them exist, at least one of each


def cross_attention_scores(images: AttentionSide, sentences: AttentionSide, attention: CrossAttention) -> Tensor:
    """(I, S) scores of every image with every sentence: Eq 1 to 6 of densevse/methods/scan.py.

    The words of a sentence stand at its first places.
    """
    scores: Tensor = _AttentionScores.apply(attention, *images, *sentences)
    return scores


def weights_of_pairs(images: AttentionSide, sentences: AttentionSide, attention: CrossAttention) -> Tensor:
    """(P, n, m) attention of each query (n) to the contexts (m), for P pairs of images and sentences in the same rows.

    The attention of a query that does not exist is 0.
    """
    queries, contexts = _roles(images, sentences, attention)
    similarities = queries.vectors @ contexts.vectors.transpose(1, 2)
    weights = _weights(similarities, queries.present.unsqueeze(2), contexts.present.unsqueeze(1), attention)
    return weights.masked_fill(~queries.present.unsqueeze(2), 0)


class _AttentionScores(torch.autograd.Function):
    """The scores as an autograd function that saves only its inputs."""

    @staticmethod
    def forward(ctx: Any, attention: CrossAttention, *given: Tensor) -> Tensor:
        ctx.attention = attention
        ctx.save_for_backward(*given)
        images, sentences = AttentionSide(*given[:2]), AttentionSide(*given[2:])
        scores = images.vectors.new_empty(len(images.vectors), len(sentences.vectors))
        for rows, columns, found in _blocks(images, sentences, attention):
            scores[rows, columns] = found
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        vectors, in_image, words, in_sentence = ctx.saved_tensors
        leaves = vectors.detach().requires_grad_(), words.detach().requires_grad_()
        totals = torch.zeros_like(vectors), torch.zeros_like(words)
        # Counting on a device would make the host wait for it.
        few = gradient.device.type == "cpu" and gradient.count_nonzero() <= FEW_PAIRS * gradient.numel()
        compared = _compare_pairs if few else _compare_blocks
        with torch.enable_grad():
            for scores, of_scores in compared(
                AttentionSide(leaves[0], in_image), AttentionSide(leaves[1], in_sentence), ctx.attention, gradient
            ):
                for total, part in zip(totals, torch.autograd.grad(scores, leaves, of_scores), strict=True):
                    total += part
        return None, totals[0], None, totals[1], None


def _roles(
    images: AttentionSide, sentences: AttentionSide, attention: CrossAttention
) -> tuple[AttentionSide, AttentionSide]:
    """The two sides: first the one that queries, then the one that gives the contexts."""
    return (images, sentences) if attention.direction == "i2t" else (sentences, images)


def _compare_pairs(
    images: AttentionSide, sentences: AttentionSide, attention: CrossAttention, gradient: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """Compares the pairs that have a gradient again, some at a time, and yields their scores and gradients."""
    for pairs in gradient.nonzero().split(PAIRS_AT_ONCE):
        image, sentence = pairs.unbind(dim=1)
        of_image = AttentionSide(images.vectors[image], images.present[image])
        of_sentence = AttentionSide(sentences.vectors[sentence], sentences.present[sentence])
        yield _pair_scores(*_roles(of_image, of_sentence, attention), attention), gradient[image, sentence]


def _compare_blocks(
    images: AttentionSide, sentences: AttentionSide, attention: CrossAttention, gradient: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """Compares all pairs again, block by block, and yields their scores and gradients."""
    for rows, columns, scores in _blocks(images, sentences, attention):
        yield scores, gradient[rows, columns]


def _blocks(
    images: AttentionSide, sentences: AttentionSide, attention: CrossAttention
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Yields blocks: a slice of images, the rows of some sentences, and their scores."""
    (count, regions), device = images.present.shape, images.present.device
    side = IMAGES_OF_BLOCK if device.type == "cpu" else min(count, IMAGES_ON_GPU)
    for length, rows_of_length in _group_by_length(sentences.present):
        at_once = max(1, numbers_at_once(device, SIMILARITIES_AT_ONCE) // (side * regions * length))
        for rows in rows_of_length.split(at_once):
            for first in range(0, count, side):
                block = slice(first, first + side)
                some_images = AttentionSide(images.vectors[block], images.present[block])
                some_sentences = AttentionSide(sentences.vectors[rows, :length], sentences.present[rows, :length])
                found = _block_scores(*_roles(some_images, some_sentences, attention), attention)
                yield block, rows, found if attention.direction == "i2t" else found.T


def _group_by_length(present: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Groups the rows of sentences by length; on a device all are one group, as the host knows no lengths there."""
    if present.device.type != "cpu":
        yield present.shape[1], torch.arange(len(present), device=present.device)
        return
    lengths = present.sum(dim=1)
    for length in lengths.unique().tolist():
        yield length, (lengths == length).nonzero().squeeze(1)


def _block_scores(queries: AttentionSide, contexts: AttentionSide, attention: CrossAttention) -> Tensor:
    """(A, B) scores of the queries of A with the contexts of B."""
    (a, n, _), (b, m, _) = queries.vectors.shape, contexts.vectors.shape
    similarities = queries.vectors.flatten(0, 1) @ contexts.vectors.flatten(0, 1).T
    similarities = similarities.view(a, n, b, m)
    weights = _weights(similarities, queries.present[:, :, None, None], contexts.present, attention)
    gram = contexts.vectors @ contexts.vectors.transpose(1, 2)
    by_context = weights.flatten(0, 1).transpose(0, 1)  # (B, A * n, m)
    squares = ((by_context @ gram) * by_context).sum(dim=2).T.view(a, n, b)
    products = (weights * similarities).sum(dim=3)
    return _pool_scores(_cosines(products, squares), queries.present.unsqueeze(2), attention)


def _pair_scores(queries: AttentionSide, contexts: AttentionSide, attention: CrossAttention) -> Tensor:
    """(P,) scores of the queries and the contexts in the same row."""
    similarities = queries.vectors @ contexts.vectors.transpose(1, 2)
    weights = _weights(similarities, queries.present.unsqueeze(2), contexts.present.unsqueeze(1), attention)
    gram = contexts.vectors @ contexts.vectors.transpose(1, 2)
    squares = ((weights @ gram) * weights).sum(dim=2)
    return _pool_scores(_cosines((weights * similarities).sum(dim=2), squares), queries.present, attention)


def _weights(similarities: Tensor, in_query: Tensor, in_context: Tensor, attention: CrossAttention) -> Tensor:
    """Eq 1 and 2: the attention of each query (dimension 1 of the similarities) to the contexts (last dimension).

    The masks, which broadcast to the similarities, say which queries and which contexts exist.
    """
    found = similarities
    kind = attention.norm.removeprefix("clipped_")
    if attention.norm.startswith("clipped"):
        found = functional.leaky_relu(found, attention.slope)
    if _has_missing(in_query):
        found = found.masked_fill(~in_query, -torch.inf if kind == "softmax" else 0)
    if kind == "softmax":
        found = found.softmax(dim=1)
    elif kind in ("l1norm", "l2norm"):
        found = found / (_norms(found, kind) + _SMALL)
    found = found * attention.temperature
    if _has_missing(in_context):
        found = found.masked_fill(~in_context, -torch.inf)
    return found.softmax(dim=-1)


def _has_missing(present: Tensor) -> bool:
    """True if some fragments may be missing. Always true on a GPU, where reading the mask would make the host wait."""
    return present.device.type != "cpu" or not present.all()


def _norms(x: Tensor, kind: str) -> Tensor:
    """Norms over dimension 1, which is kept; sums of squares take a third of the time of torch's norm here."""
    if kind == "l1norm":
        return x.abs().sum(dim=1, keepdim=True)
    return x.square().sum(dim=1, keepdim=True).clamp(min=_SMALL**2).sqrt()


def _cosines(products: Tensor, squares: Tensor) -> Tensor:
    """R of Eq 4: cosines of queries of unit norm with what they attend to, from products and squared norms."""
    return products / squares.clamp(min=_SMALL**2).sqrt()


def _pool_scores(cosines: Tensor, present: Tensor, attention: CrossAttention) -> Tensor:
    """Eq 5 or 6: pools the scores of the queries (dimension 1) that are `present`."""
    if attention.pooling == "avg":
        return (cosines * present).sum(dim=1) / present.sum(dim=1)
    scaled = (cosines * attention.sharpness).masked_fill(~present, -torch.inf)
    return scaled.logsumexp(dim=1) / attention.sharpness

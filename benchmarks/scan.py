"""SCAN's scores of all pairs and its training step, against a port of its authors' code, at the paper's sizes.

36 regions and 8 to 20 words of 1024 dimensions. The port, `xattn_score_t2i` and `xattn_score_i2t` of model.py of
https://github.com/kuanghuei/SCAN (Kuang-Huei Lee, Apache License 2.0), scores one sentence after the other with all
images. Both ways score the same images with fewer sentences than a test set has; time grows with their number.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks._memory import extra_memory
from benchmarks._timing import seconds, times_as_fast
from densevse.kernels.cross_attention import AttentionSide, CrossAttention, cross_attention_scores
from densevse.methods.parts import hardest_hinges
from densevse.runtime.numerics import set_up

IMAGES, SENTENCES = 1000, 5000  # of a test set
WAYS = {
    "t-i LSE": CrossAttention("t2i", "clipped_l2norm", 0.1, 9.0, "lse", 6.0),
    "i-t LSE": CrossAttention("i2t", "clipped_l2norm", 0.1, 4.0, "lse", 5.0),
}


class Sizes(NamedTuple):
    """Numbers of images and sentences, of the sentences that the port scores, of a batch, and of repetitions."""

    images: int
    sentences: int
    sentences_of_port: int
    batch: int
    regions: int
    dimension: int
    pairs: int


FULL = Sizes(images=128, sentences=640, sentences_of_port=64, batch=128, regions=36, dimension=1024, pairs=2)
TOY = Sizes(images=3, sentences=6, sentences_of_port=2, batch=3, regions=4, dimension=5, pairs=1)


def rows(sizes: Sizes = FULL) -> Iterator[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    set_up(torch.get_num_threads())
    images, sentences = made_images(sizes.images, sizes), made_sentences(sizes.sentences, sizes)
    of_port = sizes.sentences_of_port
    some = AttentionSide(sentences.vectors[:of_port], sentences.present[:of_port])
    share = sizes.sentences / of_port
    for name, attention in WAYS.items():
        with torch.inference_mode():
            expected = scores_of_port(images, some, attention)
            torch.testing.assert_close(cross_attention_scores(images, some, attention), expected, atol=1e-5, rtol=1e-4)
            ratio = share * times_as_fast(
                lambda attention=attention: cross_attention_scores(images, sentences, attention),
                lambda attention=attention: scores_of_port(images, some, attention),
                sizes.pairs,
            )
            taken = seconds(lambda attention=attention: cross_attention_scores(images, sentences, attention))
        minutes = taken * IMAGES * SENTENCES / (sizes.images * sizes.sentences) / 60
        note = f"{minutes:.1f} minutes for {IMAGES:,} x {SENTENCES:,}, extrapolated"
        what = f"{sizes.images:,} x {sizes.sentences:,} pairs"
        yield f"SCAN {name}, {what}: its authors' way / ours", ">= 7", ratio, note
    memory = extra_memory(lambda: scores_without_gradient(images, sentences, WAYS["t-i LSE"]))
    yield f"SCAN t-i LSE, {what}: extra memory, MB", "<= 200", memory, "peak above that before"
    yield from rows_of_training(sizes)


def rows_of_training(sizes: Sizes) -> Iterator[tuple[str, str, float, str]]:
    """Loss and gradient of a batch, by the hardest negatives, against the port's by automatic differentiation."""
    batch, attention = sizes.batch, WAYS["t-i LSE"]
    images, sentences = made_images(batch, sizes), made_sentences(batch, sizes)

    def step(scores: Callable[[AttentionSide, AttentionSide, CrossAttention], Tensor]) -> None:
        leaves = images.vectors.clone().requires_grad_(), sentences.vectors.clone().requires_grad_()
        found = scores(AttentionSide(leaves[0], images.present), AttentionSide(leaves[1], sentences.present), attention)
        hardest_hinges(found, torch.eye(batch, dtype=torch.bool), 0.2).backward()

    ratio = times_as_fast(lambda: step(cross_attention_scores), lambda: step(scores_of_port), 1)
    yield f"SCAN t-i LSE, loss and gradient, batch of {batch}: its authors' way / ours", ">= 7", ratio, "encoders apart"


def scores_without_gradient(images: AttentionSide, sentences: AttentionSide, attention: CrossAttention) -> Tensor:
    """The same scores, as evaluation computes them."""
    with torch.inference_mode():
        return cross_attention_scores(images, sentences, attention)


def scores_of_port(images: AttentionSide, sentences: AttentionSide, attention: CrossAttention) -> Tensor:
    """(I, S) scores as the authors' model.py computes them."""
    similarities = []
    for caption, length in zip(sentences.vectors, sentences.present.sum(dim=1).tolist(), strict=True):
        words = caption[:length].unsqueeze(0).repeat(len(images.vectors), 1, 1)
        query, context = (words, images.vectors) if attention.direction == "t2i" else (images.vectors, words)
        row = cosine(query, weighted_context(query, context, attention.temperature))
        similarities.append((row * attention.sharpness).exp().sum(dim=1, keepdim=True).log() / attention.sharpness)
    return torch.cat(similarities, dim=1)


def weighted_context(query: Tensor, context: Tensor, smooth: float) -> Tensor:
    """`func_attention`, with clipped_l2norm."""
    attention = functional.leaky_relu(torch.bmm(context, query.transpose(1, 2)), 0.1)
    attention = attention / (attention.pow(2).sum(dim=2, keepdim=True).sqrt() + 1e-8)
    attention = functional.softmax(attention.transpose(1, 2).contiguous() * smooth, dim=2)
    weighted = torch.bmm(context.transpose(1, 2), attention.transpose(1, 2).contiguous())
    return weighted.transpose(1, 2).contiguous()


def cosine(x: Tensor, y: Tensor) -> Tensor:
    """`cosine_similarity`."""
    return (x * y).sum(dim=2) / (x.norm(dim=2) * y.norm(dim=2)).clamp(min=1e-8)


def made_images(images: int, sizes: Sizes) -> AttentionSide:
    vectors = torch.randn(images, sizes.regions, sizes.dimension, generator=torch.Generator().manual_seed(0))
    return AttentionSide(functional.normalize(vectors, dim=2), torch.ones(images, sizes.regions, dtype=torch.bool))


def made_sentences(sentences: int, sizes: Sizes) -> AttentionSide:
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(8, 21, (sentences, 1), generator=generator)
    present = torch.arange(20) < lengths
    vectors = torch.randn(sentences, 20, sizes.dimension, generator=generator)
    return AttentionSide(functional.normalize(vectors, dim=2) * present.unsqueeze(2), present)

"""DeFrag: scoring all pairs against its one matrix product, its memory, and a training step against its products.

500 images of 20 regions and 2,500 sentences of at most 30 triplets (9 on average, as Flickr8k's), in 1000-d: half of a
test set on each side, as the products of all take minutes on two cores, and tiles are of the same size.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks._memory import extra_memory
from benchmarks._timing import times_as_fast
from densevse.evaluation.ranks import evaluate
from densevse.kernels.fragment_sums import FRAGMENTS_AT_ONCE, SCORES_AT_ONCE
from densevse.methods.defrag import DeFrag
from densevse.methods.fragments import Fragments
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.defrag import Parameters
from densevse.methods.structures import Triplets

REGIONS, LONGEST, RELATIONS, SENTENCES_OF_IMAGE = 20, 30, 17, 5


class Sizes(NamedTuple):
    """Sizes of the ranked set, of a larger one in fewer dimensions, and of a training step's batch."""

    images: int
    dimension: int
    block: int
    many_images: int
    few_dimensions: int
    feature: int
    words: int
    vector: int
    batch: int
    pairs: int
    steps: int


FULL = Sizes(500, 1000, 500, 2500, 50, feature=4096, words=10_000, vector=200, batch=100, pairs=2, steps=9)
TOY = Sizes(4, 8, 2, 6, 3, feature=8, words=20, vector=4, batch=3, pairs=1, steps=1)


def rows(sizes: Sizes = FULL) -> Iterator[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    method = DeFrag(
        Parameters(dimension=sizes.dimension, fragment_objective="multiple_instance"),
        Shapes(
            {"regions": sizes.feature}, sizes.words, torch.randn(sizes.words, sizes.vector), {"relations": RELATIONS}
        ),
    )
    images, sentences = encodings(sizes.images, sizes.dimension)
    score = scoring(method, images, sentences, sizes.block)
    ratio = 1 / times_as_fast(score, products_of_all_pairs(images, sentences), sizes.pairs)
    what = f"{sizes.images:,} x {len(sentences.vectors):,}"
    yield f"DeFrag scores and ranks, {what} / their matrix product", "<= 1.5", ratio, f"median of {sizes.pairs} pairs"
    memory = extra_memory(score)
    yield "the same: extra memory, MB", "<= 1000", memory, f"{sizes.dimension}-d, in tiles of {sizes.block}"
    images, sentences = encodings(sizes.many_images, sizes.few_dimensions)
    memory = extra_memory(scoring(method, images, sentences, sizes.block))
    what = f"{sizes.many_images:,} x {len(sentences.vectors):,}"
    yield f"{what}: extra memory, MB", "<= 1000", memory, f"{sizes.few_dimensions}-d, in tiles of the same size"
    step, products = training_step(method, sizes)
    ratio = 1 / times_as_fast(step, products, sizes.steps)
    yield "DeFrag training step / its matrix products", "<= 2", ratio, f"batch of {sizes.batch}"
    ratio = 1 / times_as_fast(training_step(method, sizes, half=True)[0], step, sizes.steps)
    yield "DeFrag training step with cpu_precision: bf16 / float32", "<= 0.85", ratio, "on a processor with bf16"


def encodings(images: int, dimension: int) -> tuple[Fragments, Fragments]:
    """Images, and five sentences of each."""
    return image_encodings(images, dimension), sentence_encodings(SENTENCES_OF_IMAGE * images, dimension)


def image_encodings(images: int, dimension: int) -> Fragments:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(images, REGIONS, dimension, generator=generator)
    return Fragments(vectors, torch.ones(images, REGIONS, dtype=torch.bool))


def sentence_encodings(sentences: int, dimension: int) -> Fragments:
    generator = torch.Generator().manual_seed(1)
    present = torch.arange(LONGEST) < lengths(sentences).unsqueeze(1)
    vectors = torch.randn(*present.shape, dimension, generator=generator).mul_(present.unsqueeze(2))
    return Fragments(vectors, present)


def lengths(sentences: int) -> Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.normal(9.0, 4.0, (sentences,), generator=generator).round().clamp(0, LONGEST).long()


def scoring(method: DeFrag, images: Fragments, sentences: Fragments, size: int) -> Callable[[], None]:
    """All pairs, tile by tile, to their ranks."""
    image_of_sentence = torch.arange(len(sentences.vectors)) // SENTENCES_OF_IMAGE

    def block(image: slice, sentence: slice) -> Tensor:
        some = (Fragments(*(part[rows] for part in side)) for side, rows in ((images, image), (sentences, sentence)))
        return method.score(*some)

    def score() -> None:
        with torch.inference_mode():
            evaluate(block, image_of_sentence, len(images.vectors), size)

    return score


def products_of_all_pairs(images: Fragments, sentences: Fragments) -> Callable[[], None]:
    """Every region with every fragment that exists: products of the shapes that scoring has, and nothing else."""
    regions = images.vectors.flatten(0, 1)
    fragments = sentences.vectors[sentences.present].split(FRAGMENTS_AT_ONCE)

    def multiply() -> None:
        with torch.inference_mode():
            for some in fragments:
                for rows in regions.split(REGIONS * max(1, SCORES_AT_ONCE // (REGIONS * len(some)))):
                    rows @ some.T

    return multiply


def training_step(method: DeFrag, sizes: Sizes, half: bool = False) -> tuple[Callable[[], None], Callable[[], None]]:
    """A step by SGD with momentum on a batch of pairs, in bf16 if `half`, and its bare matrix products."""
    batch = made_batch(sizes)
    moment = Moment(1, "multiple_instance", method.hyperparameters)
    optimizer = torch.optim.SGD([weights for weights in method.parameters() if weights.requires_grad], 1e-3, 0.9)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            images, sentences = method.encode_images(batch.images), method.encode_sentences(batch.sentences)
        images, sentences = (Fragments(side.vectors.float(), side.present) for side in (images, sentences))
        method.loss(images, sentences, batch, moment).backward()
        optimizer.step()

    features = batch.images.views["regions"].flatten(0, 1)
    counts = np.bincount(batch.sentences["triplets"].relation, minlength=RELATIONS).tolist()
    words = torch.randn(sum(counts), 2 * sizes.vector).split(counts)
    regions, fragments = (torch.randn(count, sizes.dimension) for count in (len(features), sum(counts)))
    scores = torch.randn(len(regions), len(fragments))

    def products() -> None:
        with torch.inference_mode():
            features @ method.image.weight.T
            regions.T @ features
            for some, of_some, weight in zip(words, fragments.split(counts), method.sentence.weight, strict=True):
                some @ weight.T
                of_some.T @ some
            regions @ fragments.T
            scores @ fragments
            scores.T @ regions

    return step, products


def made_batch(sizes: Sizes) -> Batch:
    generator = torch.Generator().manual_seed(3)
    counts = lengths(sizes.batch)
    total = int(counts.sum())
    relation = torch.randint(RELATIONS, (total,), generator=generator)
    governor, dependent = torch.randint(2, sizes.words, (2, total), generator=generator)
    regions = torch.rand(sizes.batch, REGIONS, sizes.feature, generator=generator)
    return Batch(
        Images({"regions": regions}, torch.ones(sizes.batch, REGIONS, dtype=torch.bool)),
        Sentences({"triplets": Triplets(*(part.numpy() for part in (relation, governor, dependent, counts)))}),
        torch.eye(sizes.batch, dtype=torch.bool),
    )

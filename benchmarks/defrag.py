"""DeFrag: scoring all pairs against its one matrix product, its memory, and a training step against its products.

1,000 images of 20 regions and 5,000 sentences of at most 30 triplets (9 on average, as Flickr8k's), in 1000-d.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks._timing import times_as_fast
from benchmarks.ranking import extra_memory
from densevse.evaluation.ranks import evaluate
from densevse.kernels.fragment_sums import SCORES_AT_ONCE
from densevse.methods.defrag import DeFrag, Fragments
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.defrag import Parameters
from densevse.methods.structures import Triplets

REGIONS, LONGEST, DIMENSION, BLOCK, PAIRS = 20, 30, 1000, 500, 2
FEATURE, WORDS, VECTOR, RELATIONS, BATCH = 4096, 10_000, 200, 17, 100


def rows() -> Iterator[tuple[str, str, float, str]]:
    """What, the target, the ratio or figure, a note."""
    method = DeFrag(
        Parameters(dimension=DIMENSION, fragment_objective="multiple_instance"),
        Shapes({"regions": FEATURE}, WORDS, torch.randn(WORDS, VECTOR), {"relations": RELATIONS}),
    )
    images, sentences = encodings(1000, DIMENSION), sentence_encodings(5000, DIMENSION)
    score = scoring(method, images, sentences)
    ratio = 1 / times_as_fast(score, products_of_all_pairs(images, sentences), PAIRS)
    yield "DeFrag scores and ranks, 1,000 x 5,000 / their matrix product", "<= 1.5", ratio, f"median of {PAIRS} pairs"
    yield "the same: extra memory, MB", "<= 1000", extra_memory(score), f"{DIMENSION}-d, in tiles of {BLOCK}"
    large = scoring(method, encodings(5000, 50), sentence_encodings(25_000, 50))
    yield "5,000 x 25,000: extra memory, MB", "<= 1000", extra_memory(large), "50-d, in tiles of the same size"
    step, products = training_step(method)
    yield "DeFrag training step / its matrix products", "<= 2", 1 / times_as_fast(step, products, 9), "batch of 100"


def encodings(images: int, dimension: int) -> Fragments:
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


def scoring(method: DeFrag, images: Fragments, sentences: Fragments) -> Callable[[], None]:
    """All pairs, tile by tile, to their ranks."""
    count = len(sentences.vectors)
    image_of_sentence = torch.arange(count) // (count // len(images.vectors))

    def block(image: slice, sentence: slice) -> Tensor:
        some = (Fragments(*(part[rows] for part in side)) for side, rows in ((images, image), (sentences, sentence)))
        return method.score(*some)

    def score() -> None:
        with torch.inference_mode():
            evaluate(block, image_of_sentence, len(images.vectors), BLOCK)

    return score


def products_of_all_pairs(images: Fragments, sentences: Fragments) -> Callable[[], None]:
    """Every region with every fragment that exists: products of the shapes that scoring has, and nothing else."""
    regions = images.vectors.flatten(0, 1)
    fragments = [part[present] for part, present in zip(*(part.split(BLOCK) for part in sentences), strict=True)]

    def multiply() -> None:
        with torch.inference_mode():
            for some in fragments:
                for rows in regions.split(REGIONS * max(1, SCORES_AT_ONCE // (REGIONS * len(some)))):
                    rows @ some.T

    return multiply


def training_step(method: DeFrag) -> tuple[Callable[[], None], Callable[[], None]]:
    """A step by SGD with momentum on a batch of pairs, and its bare matrix products."""
    batch = made_batch()
    moment = Moment(1, "multiple_instance", method.hyperparameters)
    optimizer = torch.optim.SGD([weights for weights in method.parameters() if weights.requires_grad], 1e-3, 0.9)

    def step() -> None:
        optimizer.zero_grad()
        images, sentences = method.encode_images(batch.images), method.encode_sentences(batch.sentences)
        method.loss(images, sentences, batch, moment).backward()
        optimizer.step()

    features = batch.images.views["regions"].flatten(0, 1)
    counts = torch.bincount(batch.sentences["triplets"].relation, minlength=RELATIONS).tolist()
    words = torch.randn(sum(counts), 2 * VECTOR).split(counts)
    regions, fragments = torch.randn(len(features), DIMENSION), torch.randn(sum(counts), DIMENSION)
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


def made_batch() -> Batch:
    generator = torch.Generator().manual_seed(3)
    counts = lengths(BATCH)
    total = int(counts.sum())
    relation = torch.randint(RELATIONS, (total,), generator=generator)
    governor, dependent = torch.randint(2, WORDS, (2, total), generator=generator)
    regions = torch.rand(BATCH, REGIONS, FEATURE, generator=generator)
    return Batch(
        Images({"regions": regions}, torch.ones(BATCH, REGIONS, dtype=torch.bool)),
        Sentences({"triplets": Triplets(relation, governor, dependent, counts)}),
        torch.eye(BATCH, dtype=torch.bool),
    )

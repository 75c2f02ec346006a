"""A search among a million synthetic encodings on disk by sentences that VSE encodes: time and memory."""

import tempfile
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks._memory import extra_memory
from benchmarks._timing import seconds, times_as_fast
from densevse.artifacts.schemas.features import ENCODINGS
from densevse.data.distinct import Distinct
from densevse.methods.interface import Embeddings, Sentences, Shapes
from densevse.methods.parameters.vse import Parameters
from densevse.methods.structures import words_from_index
from densevse.methods.vse import VSE
from densevse.models.encoding import batches, evaluation
from densevse.models.encodings import KeptImages
from densevse.models.searching import MOST_ROWS, Side, score_encodings, search
from snakeproof.store import FeatureWriter

VOCABULARY, WORDS = 8000, 12


class Sizes(NamedTuple):
    """Numbers of candidates and queries; the file is written `at_once` rows at a time."""

    images: int
    dimension: int
    queries: int
    top: int
    at_once: int
    pairs: int


FULL = Sizes(1_000_000, dimension=512, queries=64, top=10, at_once=50_000, pairs=2)
TOY = Sizes(30, dimension=4, queries=3, top=2, at_once=10, pairs=1)


class Queries(Side):
    """Synthetic sentences, which VSE encodes."""

    def __init__(self, method: VSE, words: torch.Tensor) -> None:
        self.method, self.words = method, words

    @cached_property
    def distinct(self) -> Distinct:
        """The sentences as kinds of equal ones."""
        return Distinct.from_contents(self.words)

    def encoding(self, rows: np.ndarray) -> Embeddings:
        """The encoding of some of them."""
        words = words_from_index(self.words[rows].numpy(), torch.device("cpu"))
        with evaluation(self.method):
            return self.method.encode_sentences(Sentences({"words": words}))


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    method = VSE(Parameters(dimension=sizes.dimension), Shapes({"whole": 8}, VOCABULARY))
    queries = Queries(method, torch.randint(2, VOCABULARY, (sizes.queries, WORDS)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kept.parquet")
        write(path, sizes)
        images = KeptImages(path, VSE, torch.device("cpu"))

        def found() -> None:
            search(partial(score_encodings, method), images, queries, "sentences", sizes.top)

        def products() -> None:
            asking = queries.encoding(np.arange(sizes.queries)).vectors.T
            for rows in batches(sizes.images, MOST_ROWS):
                images.encoding(rows).vectors @ asking

        ratio = 1 / times_as_fast(found, products, sizes.pairs)
        size, memory, took = path.stat().st_size / 2**20, extra_memory(found), seconds(found)
    what = f"search of {sizes.images:,} encodings on disk at {sizes.dimension}-d, {sizes.queries} queries"
    return [
        (
            f"{what} / encoding these, reading the others, and their products",
            "<= 4",
            ratio,
            f"{took:.1f} s; median of {sizes.pairs} pairs, in turns",
        ),
        (
            f"{what}: extra memory, MB",
            "<= 300",
            memory,
            f"peak resident size above that before; the file has {size:,.0f}",
        ),
    ]


def write(path: Path, sizes: Sizes) -> None:
    """Writes synthetic vectors of unit norm, in half precision, so that a small machine's memory can hold the file."""
    generator = np.random.default_rng(0)
    parts = [{"dtype": "float32", "shape": [sizes.dimension]}]
    with FeatureWriter(path, ENCODINGS, (sizes.dimension,), np.float16, parts=parts) as file:
        for start in range(0, sizes.images, sizes.at_once):
            vectors = generator.standard_normal((sizes.at_once, sizes.dimension), np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            ids = [f"{number:07d}" for number in range(start, start + sizes.at_once)]
            file.append(pd.DataFrame({"image_id": ids, "same_as": ids}), vectors)

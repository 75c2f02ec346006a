"""A search among a million synthetic encodings on disk: time and memory."""

import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks._timing import seconds, times_as_fast
from benchmarks.ranking import extra_memory
from densevse.analyses.searches.searching import MOST_ROWS, Side, scores_by, search
from densevse.artifacts.schemas.features import ENCODINGS
from densevse.artifacts.store import FeatureWriter
from densevse.methods.interface import DualEncoder, Embeddings, Shapes
from densevse.models.encoding import batches
from densevse.models.encodings import PARTS, KeptImages


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


class Products(DualEncoder):
    """Scores are products of vectors."""

    def __init__(self) -> None:
        super().__init__(None, Shapes({}, 0))

    encode_images = encode_sentences = loss = None  # type: ignore[assignment]


class Queries(Side):
    """Synthetic sentences."""

    def __init__(self, vectors: torch.Tensor) -> None:
        self.vectors = vectors

    def __len__(self) -> int:
        return len(self.vectors)

    def encoding(self, rows: np.ndarray) -> Embeddings:
        """The encoding of some of them."""
        return Embeddings(self.vectors[torch.from_numpy(rows)])


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kept.parquet")
        write(path, sizes)
        images, method = KeptImages(path, Products, torch.device("cpu")), Products()
        queries = Queries(torch.nn.functional.normalize(torch.randn(sizes.queries, sizes.dimension), dim=1))

        def found() -> None:
            search(partial(scores_by, method), images, queries, "sentences", sizes.top)

        def products() -> None:
            for rows in batches(sizes.images, MOST_ROWS):
                images.encoding(rows).vectors @ queries.vectors.T

        ratio = 1 / times_as_fast(found, products, sizes.pairs)
        size, memory, took = path.stat().st_size / 2**20, extra_memory(found), seconds(found)
    what = f"search of {sizes.images:,} encodings on disk at {sizes.dimension}-d, {sizes.queries} queries"
    return [
        (
            f"{what} / reading them and their products",
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
    made_from = {"parents": {}, PARTS: [{"dtype": "float32", "shape": [sizes.dimension]}]}
    with FeatureWriter(path, ENCODINGS, (sizes.dimension,), np.float16, made_from) as file:
        for start in range(0, sizes.images, sizes.at_once):
            vectors = generator.standard_normal((sizes.at_once, sizes.dimension), np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            ids = pd.DataFrame({"image_id": [f"{number:07d}" for number in range(start, start + sizes.at_once)]})
            file.append(ids, vectors)

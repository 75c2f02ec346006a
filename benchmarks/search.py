"""Searching a million made-up encodings that lie on disk: time and memory."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from benchmarks._timing import seconds, times_as_fast
from benchmarks.ranking import extra_memory
from densevse.analyses.searches.searching import MOST_ROWS, Side, search
from densevse.artifacts.schemas.encodings import ENCODINGS
from densevse.artifacts.store import FeatureWriter
from densevse.inference.encoding import batches
from densevse.inference.encodings import PARTS, KeptImages
from densevse.methods.interface import DualEncoder, Embeddings, Shapes

IMAGES, DIMENSION, QUERIES, TOP = 1_000_000, 512, 64, 10
PAIRS = 1
AT_ONCE = 50_000


class Products(DualEncoder):
    """Scores are products of vectors."""

    def __init__(self) -> None:
        super().__init__(None, Shapes({}, 0))

    encode_images = encode_sentences = loss = None  # type: ignore[assignment]


class Queries(Side):
    """Made-up sentences."""

    def __init__(self, vectors: torch.Tensor) -> None:
        self.vectors = vectors

    def __len__(self) -> int:
        return len(self.vectors)

    def encoding(self, rows: np.ndarray) -> Embeddings:
        """The encoding of some of them."""
        return Embeddings(self.vectors[torch.from_numpy(rows)])


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the ratio or figure, a note."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kept.parquet")
        write(path)
        images, method = KeptImages(path, Products, torch.device("cpu")), Products()
        queries = Queries(torch.nn.functional.normalize(torch.randn(QUERIES, DIMENSION), dim=1))

        def found() -> None:
            search(method, images, queries, "sentences", TOP)

        def products() -> None:
            for rows in batches(IMAGES, MOST_ROWS):
                images.encoding(rows).vectors @ queries.vectors.T

        ratio = 1 / times_as_fast(found, products, PAIRS)
        memory, took = extra_memory(found), seconds(found)
    what = f"search of {IMAGES:,} encodings on disk at {DIMENSION}-d, {QUERIES} queries"
    return [
        (
            f"{what} / reading them and their products",
            "<= 4",
            ratio,
            f"{took:.1f} s; median of {PAIRS} pairs, in turns",
        ),
        (f"{what}: extra memory, MB", "<= 300", memory, "peak resident size above that before; the file has 1,000"),
    ]


def write(path: Path) -> None:
    """A million made-up vectors of unit norm."""
    generator = np.random.default_rng(0)
    made_from = {"parents": {}, PARTS: [{"dtype": "float32", "shape": [DIMENSION]}]}
    with FeatureWriter(path, ENCODINGS, (DIMENSION,), np.float16, made_from) as file:
        for start in range(0, IMAGES, AT_ONCE):
            vectors = generator.standard_normal((AT_ONCE, DIMENSION), np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            ids = pd.DataFrame({"image_id": [f"{number:07d}" for number in range(start, start + AT_ONCE)]})
            file.append(ids, vectors)

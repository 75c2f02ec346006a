"""The feature store, memory-mapped from Parquet, against a gather from an array in memory.

The target is missed with 8 shards because each is read separately, about 16 vectors at a time, so the calls take time
beside the copies. Sorting vectors by shard, or copying them one by one, was no faster.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks._timing import times_as_fast
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from snakeproof.store import FeatureStore, FeatureWriter


class Sizes(NamedTuple):
    """Of the store and of what is read from it: (values of a vector, shards), several times."""

    rows: int
    stores: tuple[tuple[int, int], ...]
    batch: int
    batches: int
    pairs: int


FULL = Sizes(30_000, ((4096, 1), (4096, 8), (1280, 8)), batch=128, batches=200, pairs=7)
TOY = Sizes(8, ((3, 1), (3, 2)), batch=2, batches=2, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, measured ratio and note."""
    return [
        (
            f"random batches of {sizes.batch} x {size}, {shards} shards: speed / in memory",
            ">= 0.5",
            gather(sizes, size, shards),
            f"median of {sizes.pairs} pairs",
        )
        for size, shards in sizes.stores
    ]


def gather(sizes: Sizes, size: int, shards: int) -> float:
    random = np.random.default_rng(0)
    vectors = random.random((sizes.rows, size), dtype=np.float32).astype(np.float16)
    ids = pd.DataFrame({"image_id": np.arange(sizes.rows).astype(str)})
    batches = random.integers(sizes.rows, size=(sizes.batches, sizes.batch))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{shard}.parquet") for shard in range(shards)]
        for path, part in zip(paths, np.array_split(np.arange(sizes.rows), shards), strict=True):
            with FeatureWriter(path, IMAGE_FEATURES, (size,), "float16") as writer:
                writer.append(ids.iloc[part], vectors[part])
        store = FeatureStore(paths, IMAGE_FEATURES)
        return times_as_fast(
            lambda: [store.gather(batch) for batch in batches],
            lambda: [vectors[batch] for batch in batches],
            sizes.pairs,
        )

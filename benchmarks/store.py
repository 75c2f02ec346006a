"""The feature store, memory-mapped from Parquet, against a gather from an array in memory."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._timing import times_as_fast
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.store import FeatureStore, FeatureWriter

ROWS, BATCH, BATCHES, PAIRS = 30_000, 128, 200, 7


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the measured ratio, a note."""
    return [
        (f"random batches of {BATCH} x {size}, {shards} shards: speed / in memory", ">= 0.5", gather(size, shards), "")
        for size, shards in ((4096, 1), (4096, 8), (1280, 8))
    ]


def gather(size: int, shards: int) -> float:
    random = np.random.default_rng(0)
    vectors = random.random((ROWS, size), dtype=np.float32).astype(np.float16)
    ids = pd.DataFrame({"image_id": np.arange(ROWS).astype(str)})
    batches = random.integers(ROWS, size=(BATCHES, BATCH))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{shard}.parquet") for shard in range(shards)]
        for path, part in zip(paths, np.array_split(np.arange(ROWS), shards), strict=True):
            with FeatureWriter(path, IMAGE_FEATURES, (size,), "float16", {}) as writer:
                writer.append(ids.iloc[part], vectors[part])
        store = FeatureStore(paths, IMAGE_FEATURES)
        return times_as_fast(
            lambda: [store.gather(batch) for batch in batches], lambda: [vectors[batch] for batch in batches], PAIRS
        )

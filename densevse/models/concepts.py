"""Scores the concepts of a shard's images with a concept network: the views `concepts` and `concepts_whole`."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.shards import remove_old_shards
from densevse.models.encoding import batches
from densevse.runtime.numerics import set_up_processor
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.seals import verify_file
from snakeproof.store import FeatureStore, FeatureWriter

_AT_ONCE = 1024  # regions
DTYPE = "float16"


def score_concepts(
    regions: str,
    weights: str,
    train: str,
    threads: int,
    concepts: str,
    concepts_whole: str,
) -> None:
    """The job that scores the concepts of a shard's images: probabilities from 0 to 1, (K,) for each image.

    `regions` are REGION_FEATURES. If only the last layer of the concept network was trained (`train` is head), they are
    the inputs of the layer in `weights`; if it is all, they are logits already. `concepts` takes the largest over all
    regions, `concepts_whole` that of region 0, the whole image. Raises `InputError` if the layer does not fit the
    features.
    """
    set_up_processor(threads)
    store = FeatureStore([regions], REGION_FEATURES)
    layer = _layer(store, weights, regions) if train == "head" else None
    images, best, whole = _score_regions(store, layer)
    for view, path, logits in (("concepts", concepts, best), ("concepts_whole", concepts_whole, whole)):
        with FeatureWriter(path, IMAGE_FEATURES, logits.shape[1:], DTYPE, view=view) as file:
            file.append(images, torch.sigmoid(logits).numpy())
        remove_old_shards(path)


def _layer(store: FeatureStore, weights: str, regions: str) -> dict[str, Tensor]:
    verify_file(weights)
    layer = load_file(weights)
    if layer["weight"].shape[1:] != store.shape:
        raise InputError(
            f"{weights}: a layer for vectors of length {layer['weight'].shape[1]}, but those of {regions} have "
            f"{store.shape[0]}: they are of another network. Delete the one that is wrong and run snakemake again."
        )
    return layer


def _score_regions(store: FeatureStore, layer: Mapping[str, Tensor] | None) -> tuple[pd.DataFrame, Tensor, Tensor]:
    """The images, and (images, K) logits: the largest over each image's regions, and those of region 0."""
    outputs = store.shape[0] if layer is None else len(layer["bias"])
    ids, ranks = store.rows["image_id"].to_numpy(object), store.rows["rank"].to_numpy()
    owner = torch.from_numpy(np.cumsum(ranks == 0) - 1)  # an image's regions are consecutive, the whole image first
    best = torch.full((int((ranks == 0).sum()), outputs), -torch.inf)
    whole = torch.empty_like(best)
    for rows in progress(batches(len(store), _AT_ONCE), "concepts of regions", -(-len(store) // _AT_ONCE)):
        vectors = torch.from_numpy(store.gather(rows)).float()
        logits = vectors if layer is None else _logits(vectors, layer)
        best.scatter_reduce_(0, owner[rows].unsqueeze(1).expand_as(logits), logits, "amax")
        wholes = ranks[rows] == 0
        whole[owner[rows][wholes]] = logits[wholes]
    return pd.DataFrame({"image_id": ids[ranks == 0]}), best, whole


def _logits(vectors: Tensor, layer: Mapping[str, Tensor]) -> Tensor:
    """(n, K) logits, in batches of one length, so that no score depends on where a shard ends."""
    full = functional.pad(vectors, (0, 0, 0, _AT_ONCE - len(vectors)))
    return functional.linear(full, layer["weight"], layer["bias"])[: len(vectors)]

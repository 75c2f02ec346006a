"""Extracts features of images: threads decode and crop ahead, the network gets full batches, and a store is written.

Every batch has the same number of crops (the last one is filled up), so that an image's feature has the same bits in
any shard and with any neighbours.

The precision is chosen once for each network and data set. With `precision: auto` the first job checks whether its
machine computes bf16 in hardware, and records its choice in a file. All shards on all machines follow that file. So
features never mix two precisions, and a project that moves to another machine recomputes nothing.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, PRECISION, PREPROCESSING
from densevse.artifacts.shards import remove_old_shards, shard_slice
from densevse.config.model_folders import model_files
from densevse.config.networks import NetworkSettings
from densevse.runtime.ahead import prefetch_results
from densevse.runtime.numerics import device, fastest_precision, set_up
from densevse.runtime.on_gpu import loader_threads
from densevse.vision.crops import Pixels
from densevse.vision.networks import Network, describe_input, load_network
from densevse.vision.views import load_extraction
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.logs import progress
from snakeproof.schema import read, write
from snakeproof.store import FeatureWriter
from snakeproof.strict import validate

Image = TypeVar("Image")


@dataclass(frozen=True)
class NetworkFiles:
    """A network by name: its entry in config/networks as plain values, its weights and its recorded precision.

    `precision` is a PRECISION artifact, which is required if the entry says `precision: auto`.
    """

    name: str
    settings: Mapping[str, Any]
    weights: str | Path
    precision: str | Path | None = None

    def load(self) -> Network:
        """Loads the network in the recorded precision. Raises `InputError` if that is missing."""
        return load_network({**self.settings, "precision": self._precision()}, self.weights)

    @property
    def dtype(self) -> str:
        """The type of the stored features."""
        return validate(NetworkSettings, dict(self.settings), "networks").dtype

    def findings(self) -> dict[str, Any]:
        """The facts that files of its features state: digest of weights, preprocessing, and a recorded precision."""
        precision = self._precision()
        recorded = {} if precision == self.settings.get("precision") else {"precision": precision}
        seen = describe_input(validate(NetworkSettings, dict(self.settings), "networks"))
        return {"weights_sha256": self._digest_weights(), PREPROCESSING: seen, **recorded}

    def _digest_weights(self) -> str:
        """The digest of the file, or of the names and digests of a folder's."""
        if not Path(self.weights).is_dir():
            return checksum(self.weights)
        files = [[os.path.relpath(one, self.weights), checksum(one)] for one in model_files(str(self.weights))]
        return hashlib.sha256(json.dumps(files).encode()).hexdigest()

    def _precision(self) -> str:
        asked: str = self.settings.get("precision", "auto")
        if asked != "auto":
            return asked
        if self.precision is None:
            raise InputError(f"networks.{self.name}: `precision: auto` needs the file with the chosen precision.")
        chosen: str = read(self.precision, PRECISION)["precision"].item()
        return chosen


def write_precision(output: str | Path, threads: int) -> None:
    """The job that writes the precision that is faster on this machine as a PRECISION artifact."""
    device = set_up(threads)
    chosen = fastest_precision()
    row = pd.DataFrame({"precision": [chosen], "device": [device.type]})
    write(row, PRECISION, output)


def decoding_threads() -> int:
    """The number of threads that decode and crop: `loader_threads` for a GPU, else those of the job, and at least two.

    JPEG decoding is several times faster than any network here on a CPU, but not on a GPU.
    """
    threads = int(torch.get_num_threads())  # see `set_up`
    return max(2, threads) if device().type == "cpu" else loader_threads(threads)


def extract_features(
    image_table: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    weights: str,
    output: str,
    wildcards: Mapping[str, str],
    threads: int,
    precision: str | None = None,
) -> None:
    """The job that writes a view of a shard's images, those with status ok.

    `sources` are the data set's files by source name; `network`, `weights` and `precision` are as in `NetworkFiles`.
    Raises `InputError` that names the wrong image, file or key.
    """
    set_up(threads)
    view, network_files = wildcards["view"], NetworkFiles(wildcards["network"], network, weights, precision)
    rows = readable_rows(read(image_table, IMAGES), wildcards["shard"])
    loaded = network_files.load()
    shape, in_batch = features(loaded, blank_batch(loaded, view), view).shape[1:], batch_size(loaded, view)
    with FeatureWriter(output, IMAGE_FEATURES, shape, network_files.dtype, **network_files.findings()) as writer:
        full = batches(rows, Photographs(sources, rows), loaded, view)
        for part, pixels in progress(full, f"{view} features, batches of {in_batch}", -(-len(rows) // in_batch)):
            writer.append(part[["image_id"]], features(loaded, pixels, view)[: len(part)])
    remove_old_shards(output)


def readable_rows(images: pd.DataFrame, shard: str) -> pd.DataFrame:
    """The rows of a shard of the image table whose status is ok, in table order."""
    rows = images.iloc[shard_slice(shard, len(images))]
    return rows[rows["status"] == "ok"]


def batch_size(network: Network, view: str) -> int:
    """The number of images in a batch, whose crops the network reads together."""
    return max(1, network.settings.batch_size // load_extraction(view).crops_of_image)


def blank_batch(network: Network, view: str) -> Pixels:
    """A black batch in the network's format: (images, crops, size, size, 3)."""
    blank: Pixels = network.blank_batch(batch_size(network, view), load_extraction(view).crops_of_image)
    return blank


def batches(
    rows: pd.DataFrame, files: Photographs, network: Network, view: str
) -> Iterator[tuple[pd.DataFrame, Pixels]]:
    """Yields rows of the image table with crops (images, crops, size, size, 3); black crops fill the last batch."""
    named = list(zip(rows["source"], rows["file"], strict=True))
    for some, batch in full_batches(lambda one: files.pixels(*one), named, network, view):
        yield rows.iloc[some], batch


def full_batches(
    read: Callable[[Image], Pixels], images: Sequence[Image], network: Network, view: str
) -> Iterator[tuple[slice, Pixels]]:
    """Yields slices of `images`, each with its crops as in `batches`; `read` returns the pixels of an image."""
    cv2.setNumThreads(1)  # these threads are for reading
    extraction, in_batch = load_extraction(view), batch_size(network, view)
    with ThreadPoolExecutor(decoding_threads()) as pool:
        done = prefetch_results(pool, lambda image: network.crops(read(image), extraction), images, depth=2 * in_batch)
        for start in range(0, len(images), in_batch):
            some, batch = slice(start, min(start + in_batch, len(images))), blank_batch(network, view)
            for place in range(some.stop - start):
                batch[place] = next(done)
            yield some, batch


def features(network: Network, pixels: Pixels, view: str) -> NDArray[np.float32]:
    """Features of a batch of crops: (images, D) means over an image's crops, or a grid's (images, cells, D)."""
    if pixels.dtype == object:  # images as they are, for a network with steps of its own
        return network.image_vectors(pixels)
    return load_extraction(view).features(network, pixels, network.layer(view))

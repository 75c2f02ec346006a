"""Stores images as a trained method encodes them, so that a search can read them tile by tile."""

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.artifacts.schemas.features import ENCODINGS
from densevse.data.distinct import Distinct
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.methods.interface import Encoding, Method, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import BATCH, batches, evaluation, pad_tensor
from densevse.models.files import open_new_data
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from snakeproof.logs import progress
from snakeproof.store import FeatureStore, FeatureWriter


def encode_split(model: str, output: str, threads: int, wildcards: Mapping[str, str], **files: str | list[str]) -> None:
    """The job that encodes the images of a split by a trained `model`, and writes an ENCODINGS artifact.

    `files` are the model's inputs about the images, which it may not have been trained on. Raises `InputError` if they
    do not fit the model.
    """
    inputs, method = open_new_data(Files(files), model, set_up(threads))
    write_encodings(method, inputs, wildcards["split"], output)


def write_encodings(method: Method, inputs: Inputs, split: str, output: str | Path) -> None:
    """Encodes the readable images of a split, with sentences or without, and writes an ENCODINGS artifact.

    Equal images are encoded once.
    """
    pairs = inputs.all_images(split, method.regions_read)
    ids, distinct = pairs.rows.image_ids, pairs.distinct_images
    repeated, encoded = np.bincount(distinct.row) > 1, dict[int, NDArray[np.float32]]()
    widest = encode_image_rows(method, pairs, _widest_image(inputs, pairs))
    # float32, as the exponentials that sm-LSTM's attention keeps exceed float16's 65,504.
    parts = [{"dtype": str(part.dtype).removeprefix("torch."), "shape": list(part.shape[1:])} for part in widest]
    length = sum(math.prod(part.shape[1:]) for part in widest)
    with FeatureWriter(output, ENCODINGS, (length,), np.float32, parts=parts) as file:
        for rows in progress(batches(len(ids), BATCH), f"encodings of {split}"):
            new = rows[distinct.first[distinct.row[rows]] == rows]
            if len(new):
                alike = zip(encode_image_rows(method, pairs, new), widest, strict=True)
                flat = [pad_tensor(part, like.shape[1:]).reshape(len(new), -1).float() for part, like in alike]
                encoded.update(zip(distinct.row[new].tolist(), torch.cat(flat, dim=1).cpu().numpy(), strict=True))
            kinds = distinct.row[rows].tolist()
            own = pd.DataFrame({"image_id": ids[rows], "same_as": ids[distinct.first[kinds]]})
            file.append(own, np.stack([encoded[kind] for kind in kinds]))
            encoded = {kind: vector for kind, vector in encoded.items() if repeated[kind]}


def encode_image_rows(method: Method, pairs: Pairs, rows: Indices) -> Encoding:
    """The encoding of some images of a split."""
    with evaluation(method):
        return method.encode_images(to_device(pairs.images(rows), module_device(method)))


class KeptImages:
    """The images of an ENCODINGS artifact, memory-mapped, as encodings of the `method` that encoded them."""

    def __init__(self, path: str | Path, method: type[Method], device: torch.device) -> None:
        """Raises `InputError` if the file is missing, truncated or something else."""
        store = FeatureStore([path], ENCODINGS)
        self.image_ids = store.rows["image_id"].to_numpy(dtype=object)
        self._store, self._type, self._device = store, method.images_as, device
        self._parts = [(getattr(torch, part["dtype"]), part["shape"]) for part in store.statement.found["parts"]]

    @cached_property
    def distinct(self) -> Distinct:
        """The images as kinds of equal encodings."""
        return Distinct.from_names(self._store.rows["same_as"].to_numpy(dtype=object))

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of the images, as the method returned it."""
        flat = torch.from_numpy(self._store.gather(rows)).to(self._device)
        parts = flat.split([math.prod(shape) for _, shape in self._parts], dim=1)
        typed = zip(parts, self._parts, strict=True)
        encoding: Encoding = self._type(
            *(
                part.to(dtype).unflatten(1, shape) if shape else part.to(dtype).squeeze(1)
                for part, (dtype, shape) in typed
            )
        )
        return encoding


def _widest_image(inputs: Inputs, pairs: Pairs) -> Indices:
    """The image with the most regions, whose encoding is the widest; image 0 if there are no regions."""
    if not inputs.has_region_views:
        return np.zeros(1, np.int64)
    regions = inputs.regions.rows["image_id"].value_counts()
    return np.array([regions.reindex(pairs.rows.image_ids).argmax()], np.int64)

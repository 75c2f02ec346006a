"""The view `crops`: the pixels of regions, for a network that is trained with the method (DeFrag, section 3.4)."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.boxes import BOX
from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.features import network_settings
from densevse.data.files import Artifacts
from densevse.data.views.regions import RegionsOfImages
from densevse.data.views.vectors import MISSING
from densevse.runtime.arrays import Indices
from densevse.vision.crops import crop_of_region, mean_colour
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore

_READERS = 4
"""The number of threads that decode and warp."""


class CropsOfRegions(RegionsOfImages):
    """The regions of an artifact as the network saw them: (images, R, 3, S, S) uint8, decoded on demand.

    `images` is the image table, `sources` are the data set's files. Raises `InputError` as `RegionsOfImages` does, or
    if the network did not read the regions as crops.
    """

    def __init__(
        self, store: FeatureStore, image_ids: NDArray[np.object_], images: pd.DataFrame, sources: Mapping[str, str]
    ) -> None:
        super().__init__(store, image_ids, "crops")
        network = network_settings(store.statement)
        options = network.get("regions", {})
        if options.get("features") != "crops":
            raise InputError(
                f"The regions of the network {network.get('network')} are read from a map of the whole image, so it "
                "has no crops that could be trained on: set the network's regions.features to crops."
            )
        named = images.set_index("image_id").loc[image_ids.tolist(), ["source", "file"]]
        self._named = {str(image): (source, file) for image, source, file in named.itertuples()}
        self._files = Photographs(sources, images)
        self._image, self._rank = (store.rows[name].to_numpy() for name in ("image_id", "rank"))
        self._boxes = store.rows[BOX].to_numpy(np.float32)
        fill = mean_colour(network["mean"])
        size = options["crop_size"] or network["size"]
        self._crop = partial(crop_of_region, size=size, context=options["context"], fill=fill)

    @classmethod
    def read(cls, artifacts: Artifacts, name: str, image_ids: NDArray[np.object_]) -> Self:
        """Reads the regions' artifact and the data set's image files."""
        return cls(artifacts.stores[name], image_ids, artifacts.images, artifacts.files.sources())

    def send_to(self, device: torch.device, most: int, images: Indices, ranks: Indices) -> int:
        """Keeps nothing on the GPU, as crops are read for each batch."""
        return 0

    def _values(self, rows: Indices) -> Tensor:
        """(images, R, 3, S, S) crops of the regions of images, zero where missing."""
        exists = rows != MISSING
        with ThreadPoolExecutor(_READERS) as pool:
            of_images = pool.map(self._image_crops, (some[of] for some, of in zip(rows, exists, strict=True)))
            crops = np.concatenate(list(of_images))
        values = np.zeros((*rows.shape, *crops.shape[1:]), np.uint8)
        values[exists] = crops
        return torch.from_numpy(values).permute(0, 1, 4, 2, 3)

    def _image_crops(self, rows: Indices) -> NDArray[np.uint8]:
        """(n, S, S, 3) crops of regions of one image."""
        pixels = self._files.pixels(*self._named[self._image[rows[0]]])
        return np.stack([self._crop(pixels, self._rank[row], self._boxes[row]) for row in rows])


VIEW = CropsOfRegions

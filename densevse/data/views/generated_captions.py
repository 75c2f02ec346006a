"""The view `generated_captions`: the first sentence that a generator wrote about each image (SCO's "ctx + sen")."""

from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.captions import GENERATED
from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.views import View
from densevse.language.words import UNKNOWN, Vocabulary
from densevse.runtime.arrays import Indices
from snakeproof import schema
from snakeproof.errors import InputError


class GeneratedCaptions(View):
    """The words of one sentence for each image of a split."""

    def __init__(self, paths: list[str], vocabulary: Vocabulary, image_ids: NDArray[np.object_]) -> None:
        """Raises `InputError` if an image has no generated sentence; the message names it."""
        rows = schema.read_all(paths, GENERATED, ["image_id", "rank", "tokens"])
        tokens = rows[rows["rank"] == 1].set_index("image_id")["tokens"]
        missing = [image for image in image_ids if image not in tokens.index]
        if missing:
            raise InputError(
                f"{len(missing)} images have no generated sentence, the first is {missing[0]!r}; delete {paths[0]} and "
                "the files beside it, and run snakemake again."
            )
        numbers = (vocabulary.encode(words) or [UNKNOWN] for words in tokens.reindex(image_ids))
        self._words = RaggedNumbers.from_lists(len(image_ids), 1, enumerate(numbers))

    @classmethod
    def read(cls, artifacts: Artifacts, name: str, image_ids: NDArray[np.object_]) -> Self:
        """Reads the GENERATED sentences of all splits."""
        return cls(artifacts.files.view(name), artifacts.vocabulary, image_ids)

    @classmethod
    def size(cls, artifacts: Artifacts, name: str) -> int:
        """1: each word of a sentence is one number."""
        return 1

    def take(self, images: Indices) -> Tensor:
        """(images, longest) word numbers of some of the split's images, padded with 0."""
        (index,), _ = self._words.padded_columns(images)
        return torch.from_numpy(index)


VIEW = GeneratedCaptions

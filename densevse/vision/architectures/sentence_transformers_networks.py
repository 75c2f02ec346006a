"""Encoders in folders of sentence-transformers or transformers: images and sentences, one vector each or several."""

import logging
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before the libraries read it; a job fetches nothing

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from sentence_transformers import MultiVectorEncoder, SentenceTransformer, __version__
from torch import nn

from densevse.config.model_folders import has_several_vectors
from densevse.config.networks import NetworkSettings, PromptNames
from densevse.runtime.numerics import device
from densevse.vision.crops import Pixels
from densevse.vision.networks import Cropping, Network
from snakeproof.errors import InputError

Vectors = NDArray[np.float32]
_NEAR = 1e-3
"""A vector may differ by this share of its length beside longer sentences; where padding counts it is another one."""
_BLANK = np.zeros((64, 64, 3), np.uint8)


class FolderEncoder:
    """The model of a folder, in float32, as the library encodes: (D,) vectors, or (n, D) of a model of `several`."""

    def __init__(self, settings: NetworkSettings, folder: str | Path) -> None:
        """Raises `InputError` for a folder that the library must not see or cannot load, or for an unknown prompt."""
        self._folder = str(folder)
        self._prompts, self._batch = settings.prompts or PromptNames.model_validate({}), settings.batch_size
        self.several = has_several_vectors(self._folder)
        self.model = self._load()
        for name in (self._prompts.sentences, self._prompts.images):
            if name not in (known := ["query", "document", *self.model.prompts]):
                named = ", ".join(dict.fromkeys(known))
                raise InputError(f"networks: {self._folder} has no prompt {name!r}; its prompts are {named}.")
        self._length = "as in a batch"
        self._pad_where_it_counts()

    def _load(self) -> Any:
        kind, lines = MultiVectorEncoder if self.several else SentenceTransformer, _Lines()
        of_library = logging.getLogger("transformers")
        of_library.addHandler(lines)
        try:
            options: dict[str, Any] = {
                "device": str(device()),
                "local_files_only": True,
                "model_kwargs": {"dtype": torch.float32},
            }
            model: Any = kind(self._folder, **options)
        except Exception as error:  # the libraries raise many kinds
            raise InputError(
                f"{self._folder}: sentence-transformers {__version__} cannot load this folder "
                f"({type(error).__name__}: {error}); name one that it loads offline."
            ) from error
        finally:
            of_library.removeHandler(lines)
        if random := [line for line in lines.found if "MISSING" in line or "newly initialized" in line]:
            raise InputError(
                f"{self._folder}: weights of the model are not in the folder, so they are random: {random[0]}"
            )
        if lacking := [kind for kind in ("image", "text") if not model.supports(kind)]:
            raise InputError(f"{self._folder}: the model encodes no {lacking[0]}s; name one of images and sentences.")
        return model.eval().requires_grad_(False)

    def _pad_where_it_counts(self) -> None:
        """Pads sentences to the full length if a vector changes beside a longer sentence.

        SigLIP reads a sentence's last place and was trained with full padding; the library pads to the longest of a
        batch. Raises `InputError` if the vector changes still.
        """
        if self._changes_in_a_batch():
            length = self.model.max_seq_length
            self.model[0].processing_kwargs = {"text": {"padding": "max_length", "max_length": length}}
            self._length = f"all with {length} tokens"
            if self._changes_in_a_batch():
                raise InputError(
                    f"{self._folder}: the vector of a sentence changes with those beside it, as padding counts; give "
                    "the folder `processing_kwargs` of a fixed length, or name another model."
                )

    def _changes_in_a_batch(self) -> bool:
        short, longer = "a", "a dog and a cat on the grass"
        (alone,), (beside, _) = self.encode_sentences([short]), self.encode_sentences([short, longer])
        return alone.shape != beside.shape or bool(np.abs(alone - beside).max() > _NEAR * np.linalg.norm(alone))

    def encode_sentences(self, sentences: Sequence[str]) -> list[Vectors]:
        """The vector or vectors of each sentence."""
        return self._encode(list(sentences), self._prompts.sentences)

    def encode_images(self, images: Sequence[Pixels]) -> list[Vectors]:
        """The vector or vectors of each image (height, width, 3)."""
        return self._encode([Image.fromarray(np.ascontiguousarray(pixels)) for pixels in images], self._prompts.images)

    def _encode(self, inputs: list[Any], prompt: str) -> list[Vectors]:
        named = {"query": self.model.encode_query, "document": self.model.encode_document}
        encode = named.get(prompt) or partial(self.model.encode, prompt_name=prompt)
        return [*encode(inputs, batch_size=self._batch, show_progress_bar=False, convert_to_numpy=True)]

    def describe(self) -> dict[str, str]:
        """What made the vectors, in words: the prompts with their texts, the padding, the version of the library."""
        texts = {kind: (name, self.model.prompts.get(name) or "") for kind, name in self._prompts.model_dump().items()}
        prompts = {f"prompt of {kind}": f"{name} {text!r}" for kind, (name, text) in texts.items()}
        return {**prompts, "sentences padded": self._length, "sentence-transformers": __version__}

    def count_cut(self, sentences: Sequence[str]) -> int:
        """The number of sentences with more tokens than the model reads."""
        asked = {"query": "query_length", "document": "document_length"}.get(self._prompts.sentences, "")
        most = getattr(self.model[0], asked, None) or self.model.max_seq_length
        text = self.model.prompts.get(self._prompts.sentences) or ""
        tokens = self.model.tokenizer([text + one for one in sentences], truncation=False, verbose=False)["input_ids"]
        return sum(len(one) > most for one in tokens) if most else 0


class _Lines(logging.Handler):
    """Keeps what a library says."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found += [line for line in record.getMessage().splitlines() if line]


class FolderNetwork(Network):
    """The image encoder of a folder as a network of the view `whole`: images of any size go through its own steps."""

    def __init__(self, settings: NetworkSettings, encoder: FolderEncoder) -> None:
        super().__init__(settings, encoder.model)
        self._encoder = encoder

    def blank_batch(self, images: int, crops: int) -> Any:
        """(images, crops) black pictures."""
        batch = np.empty((images, crops), object)
        for place in np.ndindex(batch.shape):
            batch[place] = _BLANK
        return batch

    def crops(self, pixels: Pixels, view: Cropping) -> Any:
        """(1,) the image itself, as an object."""
        one = np.empty(1, object)
        one[0] = pixels
        return one

    def image_vectors(self, batch: NDArray[Any]) -> Vectors:
        """(images, D) of the pictures of a batch."""
        return np.stack(self._encoder.encode_images([*batch[:, 0]]))

    def _prepare_module(self, module: nn.Module) -> nn.Module:
        return module


class _OwnPreprocessing:
    """The table of weights: the folder has its own preprocessing, and no tags."""

    def describe(self, architecture: str, options: Any) -> str:
        """The preprocessing, in words."""
        return "the folder's own preprocessing"

    def resolve(self, *_: Any) -> dict[str, Any]:
        """Nothing to add."""
        return {}


TABLE = _OwnPreprocessing()
encoder = FolderEncoder


def network(settings: NetworkSettings, weights: str | Path) -> FolderNetwork:
    """The image encoder. Raises `InputError` as `FolderEncoder` does, or for a model with several vectors."""
    made = FolderEncoder(settings, weights)
    if made.several:
        raise InputError(
            f"networks: {settings.architecture} makes several vectors of an image, and the view whole has one; measure "
            "it as a row by `given`, or name a model with one."
        )
    return FolderNetwork(settings, made)

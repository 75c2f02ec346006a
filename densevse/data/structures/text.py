"""Sentences as published, put into a prompt and cut by the tokenizer of the network that encodes them."""

from importlib import import_module
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.config.registries import find_library
from densevse.data.files import Artifacts
from densevse.data.structures import Structure
from densevse.methods.structures import Text
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError
from snakeproof.logs import logger

PLACE = "{}"
"""The placeholder in a prompt that the sentence replaces."""


class TextOfSentences(Structure):
    """The tokens of all sentences of a split, of which `cut` lost some."""

    def __init__(self, tokens: Tensor, cut: int = 0) -> None:
        self._tokens, self.cut = tokens, cut

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads sentences; one with more tokens than the network reads is cut, and the log says how many were."""
        if artifacts.encoded_by is None:
            raise InputError("`sentences: [text]` needs a network that encodes sentences; this model has none.")
        library = find_library(artifacts.encoded_by["architecture"])
        assert library is not None  # the configuration guarantees it
        # Imported by name, so that only jobs of such models need the library.
        tokenizer = import_module(library.implementation).tokenizer(artifacts.encoded_by)
        prompted = [
            artifacts.encoded_by["prompt"].replace(PLACE, text) for text in artifacts.sentence_texts(caption_ids)
        ]
        tokens, cut = tokenizer.tokens(prompted)
        logger.info("%d of %d sentences have more than %d tokens and are cut", cut, len(prompted), tokenizer.length)
        return cls(tokens, cut)

    def take(self, sentences: Indices) -> Text:
        """The tokens of some sentences."""
        return Text(self._tokens[torch.from_numpy(sentences)])


STRUCTURE = TextOfSentences

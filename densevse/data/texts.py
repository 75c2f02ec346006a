"""Opens the artifacts of a data set's sentences, from which every structure is read."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.data.files import Files
from densevse.language.words import Vocabulary
from densevse.runtime.errors import InputError


class Texts:
    """The vocabulary, and tokens and parses by caption."""

    def __init__(self, files: Files, encoded_by: Mapping[str, Any] | None = None) -> None:
        """`encoded_by` describes a network that encodes whole sentences: its architecture, options and prompt."""
        self.files, self.encoded_by = files, encoded_by

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return Vocabulary.read(self.files.one("words"))

    def sentences_of(self, caption_ids: NDArray[np.object_]) -> list[str]:
        """Some captions as published. Raises `InputError` that names a missing one."""
        path = self.files.one("caption_table")
        texts = schema.read(path, CAPTIONS, ["caption_id", "text"]).set_index("caption_id")
        return list(self._of_captions(texts, caption_ids, "captions")["text"])

    def tokens_of(self, caption_ids: NDArray[np.object_]) -> list[list[str]]:
        """The tokens of some captions. Raises `InputError` that names a caption without tokens."""
        return [list(tokens) for tokens in self._of_captions(self._tokens, caption_ids, "tokens")["tokens"]]

    def parses_of(self, caption_ids: NDArray[np.object_], columns: list[str]) -> pd.DataFrame:
        """PARSES columns of some captions, in their order. Raises `InputError` that names an unparsed one."""
        paths = self.files.several("parses")
        parses = schema.read_all(paths, PARSES, ["caption_id", *columns]).set_index("caption_id")
        return self._of_captions(parses, caption_ids, "parses")

    @cached_property
    def _tokens(self) -> pd.DataFrame:
        path = self.files.one("tokens")
        return schema.read(path, TOKENS, ["caption_id", "tokens"]).set_index("caption_id")

    def _of_captions(self, rows: pd.DataFrame, caption_ids: NDArray[np.object_], name: str) -> pd.DataFrame:
        number = rows.index.get_indexer(pd.Index(caption_ids))
        if (number < 0).any():
            missing = caption_ids[int(np.argmin(number))]
            raise InputError(f"caption {missing!r} is not among the {name}; delete these and run snakemake again.")
        return rows.iloc[number]

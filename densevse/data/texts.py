"""Opens the artifacts of a data set's sentences, from which every structure is read."""

from collections.abc import Iterator, Mapping
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
    """The known words, and texts, tokens and parses by caption.

    Those are read a few thousand at a time: of MS-COCO's, Python's objects would take gigabytes.
    """

    def __init__(self, files: Files, encoded_by: Mapping[str, Any] | None = None) -> None:
        """`encoded_by` describes a network that encodes whole sentences: its architecture, options and prompt."""
        self.files, self.encoded_by = files, encoded_by

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return Vocabulary.read(self.files.one("words"))

    def sentences_of(self, caption_ids: NDArray[np.object_]) -> list[str]:
        """Some captions as they are published. Raises `InputError` naming one that is not there."""
        return self._in_order(_CAPTIONS, caption_ids, "text")

    def tokens_of(self, caption_ids: NDArray[np.object_]) -> list[list[str]]:
        """The tokens of some captions. Raises `InputError` naming one that has none."""
        return [list(tokens) for tokens in self._in_order(_TOKENS, caption_ids, "tokens")]

    def tokens(self, caption_ids: NDArray[np.object_]) -> Iterator[tuple[int, list[str]]]:
        """The tokens of each of some different captions, in the order of the files, with its place among them.

        Raises `InputError`, in the end, naming one that has none or is there twice.
        """
        return ((place, list(tokens)) for place, tokens in self._each(_TOKENS, caption_ids, ["tokens"]))

    def parses(self, caption_ids: NDArray[np.object_], columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """PARSES columns of each of some different captions, after its place among them, as `tokens` gives these."""
        return self._each(_PARSES, caption_ids, columns)

    def unparsed(self, caption_ids: NDArray[np.object_]) -> dict[int, list[str]]:
        """The tokens of those of some captions that could not be parsed, by their places among these."""
        failed = np.array([place for place, status in self.parses(caption_ids, ["status"]) if status != "ok"], np.int64)
        failed.sort()
        return dict(zip(failed.tolist(), self.tokens_of(caption_ids[failed]), strict=True)) if len(failed) else {}

    def _in_order(self, source: "_Source", caption_ids: NDArray[np.object_], column: str) -> list[Any]:
        """A column of some captions, in their order; one may be asked for twice."""
        different, which = np.unique(caption_ids, return_inverse=True)
        found = dict(self._each(source, different, [column]))
        return [found[number] for number in which.tolist()]

    def _each(
        self, source: "_Source", caption_ids: NDArray[np.object_], columns: list[str]
    ) -> Iterator[tuple[Any, ...]]:
        name, inputs, kind = source
        wanted, times = pd.Index(caption_ids), np.zeros(len(caption_ids), np.int64)
        for rows in schema.read_parts(self.files.several(inputs), kind, ["caption_id", *columns]):
            places = wanted.get_indexer(pd.Index(rows["caption_id"]))
            rows, places = rows[places >= 0], places[places >= 0]
            times += np.bincount(places, minlength=len(times))
            yield from zip(places.tolist(), *(rows[column] for column in columns), strict=True)
        if (times != 1).any():
            odd = int(np.argmax(times != 1))
            found = "twice" if times[odd] else "not"
            raise InputError(
                f"caption {caption_ids[odd]!r} is {found} among the {name}; delete these and run snakemake again."
            )


_Source = tuple[str, str, schema.Schema]  # what it holds, the job's input, its schema
_CAPTIONS: _Source = ("captions", "caption_table", CAPTIONS)
_TOKENS: _Source = ("tokens", "tokens", TOKENS)
_PARSES: _Source = ("parses", "parses", PARSES)

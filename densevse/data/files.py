"""The artifacts that a job reads, by the names of the rule's inputs, and what all structures and views share."""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES, TOKENS
from densevse.language.words import Vocabulary
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import Schema
from snakeproof.store import FeatureStore

VIEW, _SOURCE = "view_", "source_"


class Files:
    """A rule's named inputs: each name is one path or several.

    Known names are image_table, caption_table, tokens, words, view_<view> (shards of features, or sentences that a
    generator wrote), parses (shards), relations, tags, word_vectors and correspondences. A job has those that its
    method's configuration asks for. A job that reads pixels also has the files of the data set, source_<source>, which
    are not artifacts.
    """

    def __init__(self, named: Mapping[str, str | list[str]]) -> None:
        self._named = {name: paths for name, paths in named.items() if paths}

    def __contains__(self, name: str) -> bool:
        """True if the rule has an input of that name."""
        return name in self._named

    def input_path(self, name: str) -> str:
        """The path of an input that is one file. Raises `InputError` if the input is missing or has several files."""
        (path, *others) = self.input_paths(name)
        if others:
            raise InputError(f"the job's input {name} is {1 + len(others)} files; expected one.")
        return path

    def input_paths(self, name: str) -> list[str]:
        """The paths of an input. Raises `InputError` if the rule has no such input."""
        if name not in self:
            raise InputError(f"the job has no input {name}, which its method reads; found {sorted(self._named)}.")
        paths = self._named[name]
        return [paths] if isinstance(paths, str) else list(paths)

    def views(self) -> list[str]:
        """The names of the views."""
        return [name.removeprefix(VIEW) for name in self._named if name.startswith(VIEW)]

    def view(self, name: str) -> list[str]:
        """The files of a view: the shards of its features, or the sentences written about images."""
        return self.input_paths(f"{VIEW}{name}")

    def sources(self) -> dict[str, str]:
        """Source -> the folder, zip or tar with the data set's images."""
        return {name.removeprefix(_SOURCE): self.input_path(name) for name in self._named if name.startswith(_SOURCE)}

    def paths(self) -> list[str]:
        """Every file except the data set's own, in the order of the inputs' names."""
        return [path for _, paths in sorted(self.paths_by_input().items()) for path in paths]

    def paths_by_input(self) -> dict[str, list[str]]:
        """Name -> the files of the input, without the data set's own."""
        return {name: self.input_paths(name) for name in self._named if not name.startswith(_SOURCE)}

    def replace_inputs(self, **named: str | list[str]) -> Self:
        """The same files with some inputs replaced or added; an empty list removes an input."""
        return type(self)({**self._named, **named})

    def select_inputs(self, names: Collection[str]) -> Self:
        """The same files without the inputs that `names` does not have."""
        return type(self)({name: paths for name, paths in self._named.items() if name in names})


class Artifacts:
    """A job's artifacts: the image table, the features of each view, and words, texts, tokens and parses by caption.

    The last three are read a few thousand at a time: of MS-COCO's, Python's objects would take gigabytes.
    """

    def __init__(
        self, files: Files, features: Mapping[str, Schema], encoded_by: Mapping[str, Any] | None = None
    ) -> None:
        """`features` has the schema of each view that is opened from features.

        `encoded_by` describes a network that encodes whole sentences: its architecture, options and prompt.
        """
        self.files, self.encoded_by = files, encoded_by
        self.stores = {view: FeatureStore(files.view(view), kind) for view, kind in features.items()}

    @cached_property
    def images(self) -> pd.DataFrame:
        """The image table."""
        return schema.read(self.files.input_path("image_table"), IMAGES)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return Vocabulary.read(self.files.input_path("words"))

    def sentence_texts(self, caption_ids: NDArray[np.object_]) -> list[str]:
        """Some captions as they are published. Raises `InputError` naming one that is not there."""
        return self._ordered_column(_CAPTIONS, caption_ids, "text")

    def sentence_tokens(self, caption_ids: NDArray[np.object_]) -> list[list[str]]:
        """The tokens of some captions. Raises `InputError` naming one that has none."""
        return [list(tokens) for tokens in self._ordered_column(_TOKENS, caption_ids, "tokens")]

    def tokens(self, caption_ids: NDArray[np.object_]) -> Iterator[tuple[int, list[str]]]:
        """Yields each caption's place in `caption_ids`, which are distinct, and its tokens, in the order of the files.

        Raises `InputError`, in the end, naming one that has none or is there twice.
        """
        return ((place, list(tokens)) for place, tokens in self._read_rows(_TOKENS, caption_ids, ["tokens"]))

    def parses(self, caption_ids: NDArray[np.object_], columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yields each caption's place in `caption_ids` and its values of the PARSES `columns`, as `tokens` does."""
        return self._read_rows(_PARSES, caption_ids, columns)

    def unparsed_tokens(self, caption_ids: NDArray[np.object_]) -> dict[int, list[str]]:
        """The tokens of those of some captions that could not be parsed, by their places among these."""
        failed = np.array([place for place, status in self.parses(caption_ids, ["status"]) if status != "ok"], np.int64)
        failed.sort()
        return dict(zip(failed.tolist(), self.sentence_tokens(caption_ids[failed]), strict=True)) if len(failed) else {}

    def _ordered_column(self, source: "_Source", caption_ids: NDArray[np.object_], column: str) -> list[Any]:
        """A column of some captions, in their order; one may be asked for twice."""
        different, which = np.unique(caption_ids, return_inverse=True)
        found = dict(self._read_rows(source, different, [column]))
        return [found[number] for number in which.tolist()]

    def _read_rows(
        self, source: "_Source", caption_ids: NDArray[np.object_], columns: list[str]
    ) -> Iterator[tuple[Any, ...]]:
        name, inputs, kind = source
        wanted, times = pd.Index(caption_ids), np.zeros(len(caption_ids), np.int64)
        for rows in schema.read_parts(self.files.input_paths(inputs), kind, ["caption_id", *columns]):
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

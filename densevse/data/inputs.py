"""A data set's artifacts, opened once for all its splits."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.artifacts.schemas.sentences import WORD_VECTORS
from densevse.artifacts.store import FeatureStore
from densevse.data.files import Artifacts, Files
from densevse.data.pairs import Pairs, PhraseRegions
from densevse.data.structures import structure
from densevse.data.views import View, ViewOfRegions, kind_of_view
from densevse.evaluation.protocols import TestSet, select_split, spread
from densevse.methods.interface import Shapes
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

NETWORK = "network"
"""The name of the job's input with the first weights of a network that is trained with the method."""


class Inputs(Artifacts):
    """The data that a method reads: views from the job's files, and the named structures of sentences."""

    def __init__(self, files: Files, sentences: Sequence[str], encoded_by: Mapping[str, Any] | None = None) -> None:
        """`encoded_by` is passed on to Texts."""
        self.sentences = tuple(sentences)
        self._kinds = {view: kind_of_view(view) for view in files.views()}
        features = {view: kind.features for view, kind in self._kinds.items() if kind.features}
        super().__init__(files, features, encoded_by)

    @property
    def knows_words(self) -> bool:
        """True if sentences are read as words of a vocabulary."""
        return "words" in self.files

    @cached_property
    def captions(self) -> pd.DataFrame:
        """The caption table, without texts."""
        columns = ["caption_id", "image_id", "position", "split"]
        return schema.read(self.files.one("caption_table"), CAPTIONS, columns)

    @property
    def with_regions(self) -> bool:
        """True if the method reads regions of images."""
        return bool(self._of_regions())

    @property
    def regions(self) -> FeatureStore:
        """The regions of images with their boxes; a method reads their vectors or their pixels."""
        return self.stores[self._of_regions()[0]]

    def _of_regions(self) -> list[str]:
        return [view for view, kind in self._kinds.items() if issubclass(kind, ViewOfRegions)]

    def shapes(self) -> Shapes:
        """The sizes that the data gives a method."""
        features = {view: kind.size(self, view) for view, kind in self._kinds.items()}
        sizes = {key: size for name in self.sentences for key, size in structure(name).sizes(self).items()}
        words = len(self.vocabulary) if self.knows_words else 0
        return Shapes(features, words, self._word_vectors(), sizes, self._network())

    def features_made_from(self) -> dict[str, dict[str, Any]]:
        """View -> what its features were made from: network, layer, weights."""
        return {view: store.made_from for view, store in self.stores.items()}

    def pairs(
        self,
        split: str,
        regions: Literal["all", "assigned"] = "all",
        images: int | None = None,
        sentences: str = "all",
    ) -> Pairs:
        """The readable images of a split and their sentences; `regions` as `Method.regions_read` says.

        With a number of `images`, only that many, evenly spaced; `sentences` is the data set's setting. Raises
        `InputError` if there are no pairs.
        """
        rows = select_split(self.images, self.captions, split, sentences)
        rows = rows if images is None else spread(rows, images)
        structures = {name: structure(name).read(self, rows.caption_ids) for name in self.sentences}
        logger.info("%s: %d images with %d sentences", split, len(rows.image_ids), len(rows.caption_ids))
        phrases = self._phrases(structures.get("trees")) if split == "train" else None
        return Pairs(rows, self._views(rows.image_ids), structures, phrases, regions)

    def _views(self, image_ids: NDArray[np.object_]) -> dict[str, View]:
        """The views of some images."""
        return {name: kind.read(self, name, image_ids) for name, kind in self._kinds.items()}

    def _network(self) -> nn.Module | None:
        """The network that is trained with the method; None if the job has no first weights for one."""
        if NETWORK not in self.files:
            return None
        # Imported by name, so that only jobs of such methods depend on its code.
        kind = import_module("densevse.vision.finetuned").FineTuned
        network: nn.Module = kind.of_file(self.regions.made_from, self.files.one(NETWORK))
        return network

    def images_alone(self, split: str, regions: Literal["all", "assigned"] = "all") -> Pairs:
        """The readable images of a split, with sentences or without. Raises `InputError` if there are none."""
        kept = self.images[(self.images["split"] == split) & (self.images["status"] == "ok")]
        if kept.empty:
            raise InputError(f"{self.files.one('image_table')}: the {split} split has no readable image.")
        ids, families = (kept[name].to_numpy(dtype=object) for name in ("image_id", "family"))
        rows = TestSet(ids, np.empty(0, object), np.empty(0, np.int64), families)
        return Pairs(rows, self._views(ids), {}, regions=regions)

    def sentences_alone(self, split: str) -> Pairs:
        """The sentences of a split, with images or without. Raises `InputError` if there are none."""
        ids = self.captions.loc[self.captions["split"] == split, "caption_id"].to_numpy(dtype=object)
        if not len(ids):
            raise InputError(f"{self.files.one('caption_table')}: the {split} split has no sentence.")
        rows = TestSet(np.empty(0, object), ids, np.empty(0, np.int64), np.empty(0, object))
        return Pairs(rows, {}, {name: structure(name).read(self, ids) for name in self.sentences})

    def _phrases(self, forest: Any) -> PhraseRegions | None:
        """The regions assigned to phrases; None if the round has no correspondences."""
        if "correspondences" not in self.files:
            return None
        if forest is None:
            raise InputError("correspondences are of noun phrases: the method's `sentences` must hold trees.")
        return PhraseRegions.read(schema.read(self.files.one("correspondences"), CORRESPONDENCES), forest)

    def _word_vectors(self) -> torch.Tensor | None:
        if "word_vectors" not in self.files:
            return None
        path = self.files.one("word_vectors")
        rows = schema.read(path, WORD_VECTORS, ["index", "vector"])
        if not rows["index"].between(0, len(self.vocabulary) - 1).all():
            raise InputError(f"{path}: of another vocabulary than {self.files.one('words')}; delete it.")
        vectors = np.zeros((len(self.vocabulary), len(rows["vector"].iloc[0])), np.float32)
        vectors[rows["index"]] = np.stack(rows["vector"].to_list())
        return torch.from_numpy(vectors)

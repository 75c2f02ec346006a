"""A data set's artifacts, opened once for all its splits."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import feature_schema
from densevse.artifacts.schemas.vocabulary import WORD_VECTORS
from densevse.artifacts.store import FeatureStore
from densevse.data.files import Files
from densevse.data.pairs import Pairs
from densevse.data.phrase_regions import PhraseRegions
from densevse.data.structures import structure
from densevse.data.structures.trees import Forest
from densevse.data.texts import Texts
from densevse.data.views import View, view
from densevse.data.written import WRITTEN, Written
from densevse.evaluation.protocols import TestSet, select_split, spread
from densevse.methods.interface import Shapes
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

CROPS, NETWORK = "crops", "network"
"""The view whose pixels a network is shown, and the job's input with the network's first weights."""


class Inputs(Texts):
    """What a method reads: the views that the job's files hold, and the structures of sentences that are named."""

    def __init__(self, files: Files, sentences: Sequence[str]) -> None:
        super().__init__(files)
        self.sentences = tuple(sentences)
        self.stores = {view: FeatureStore(paths, feature_schema(view)) for view, paths in files.views().items()}

    @cached_property
    def images(self) -> pd.DataFrame:
        """The image table."""
        return schema.read(self.files.one("image_table"), IMAGES)

    @cached_property
    def captions(self) -> pd.DataFrame:
        """The caption table, without texts."""
        columns = ["caption_id", "image_id", "position", "split"]
        return schema.read(self.files.one("caption_table"), CAPTIONS, columns)

    @property
    def with_regions(self) -> bool:
        """Whether a method is given regions of images."""
        return not self.stores.keys().isdisjoint(("regions", CROPS))

    @property
    def regions(self) -> FeatureStore:
        """The regions of images with their boxes, of which a method is given the vectors or the pixels."""
        return self.stores[CROPS if CROPS in self.stores else "regions"]

    def shapes(self) -> Shapes:
        """The sizes that the data gives a method."""
        features = {view: int(store.shape[-1]) for view, store in self.stores.items()}
        features |= {WRITTEN: 1} if WRITTEN in self.files else {}  # a sentence has as many numbers as it has words
        sizes = {key: size for name in self.sentences for key, size in structure(name).sizes(self).items()}
        return Shapes(features, len(self.vocabulary), self._word_vectors(), sizes, self._network())

    def features_made_from(self) -> dict[str, dict[str, Any]]:
        """View -> what its features were made from: network, layer, weights."""
        return {view: store.made_from for view, store in self.stores.items()}

    def pairs(self, split: str, regions: Literal["all", "assigned"] = "all", images: int | None = None) -> Pairs:
        """The readable images of a split and their sentences; `regions` as `Method.regions_read` says.

        With a number of `images`, so many of them, evenly spaced. Raises `InputError` if there are none.
        """
        rows = select_split(self.images, self.captions, split)
        rows = rows if images is None else spread(rows, images)
        structures = {name: structure(name).read(self, rows.caption_ids) for name in self.sentences}
        logger.info("%s: %d images with %d sentences", split, len(rows.image_ids), len(rows.caption_ids))
        phrases = self._phrases(structures.get("trees")) if split == "train" else None
        return Pairs(rows, self._views(rows.image_ids), structures, phrases, regions)

    def _views(self, image_ids: NDArray[np.object_]) -> dict[str, View | Written]:
        """The views of some images."""
        views: dict[str, View | Written] = {name: self._view(name, image_ids) for name in self.stores}
        if WRITTEN in self.files:
            views[WRITTEN] = Written(self.files.several(WRITTEN), self.vocabulary, image_ids)
        return views

    def _view(self, name: str, image_ids: NDArray[np.object_]) -> View:
        if name != CROPS:
            return view(self.stores[name], image_ids, name)
        # By name, so that only jobs that read pixels depend on what decodes them: see plan.training.modules_of.
        crops, files = import_module("densevse.data.crops"), import_module("densevse.datasets.images")
        found: View = crops.Crops(self.stores[name], image_ids, self.images, files.ImageFiles(self.files.sources()))
        return found

    def _network(self) -> nn.Module | None:
        """The network that is trained with the method, where the job is given its first weights."""
        if NETWORK not in self.files:
            return None
        described = self.stores[CROPS].made_from
        network: nn.Module = import_module("densevse.vision.finetuned").FineTuned.of_file(
            described, self.files.one(NETWORK)
        )
        return network

    def images_alone(self, split: str, regions: Literal["all", "assigned"] = "all") -> Pairs:
        """The readable images of a split, whether they have sentences or not. Raises `InputError` if there are none."""
        kept = self.images[(self.images["split"] == split) & (self.images["status"] == "ok")]
        if kept.empty:
            raise InputError(f"{self.files.one('image_table')}: the {split} split has no readable image.")
        ids, families = (kept[name].to_numpy(dtype=object) for name in ("image_id", "family"))
        rows = TestSet(ids, np.empty(0, object), np.empty(0, np.int64), families)
        return Pairs(rows, self._views(ids), {}, regions=regions)

    def sentences_alone(self, split: str) -> Pairs:
        """The sentences of a split, whether they have images or not. Raises `InputError` if there are none."""
        ids = self.captions.loc[self.captions["split"] == split, "caption_id"].to_numpy(dtype=object)
        if not len(ids):
            raise InputError(f"{self.files.one('caption_table')}: the {split} split has no sentence.")
        rows = TestSet(np.empty(0, object), ids, np.empty(0, np.int64), np.empty(0, object))
        return Pairs(rows, {}, {name: structure(name).read(self, ids) for name in self.sentences})

    def _phrases(self, forest: Any) -> PhraseRegions | None:
        """The phrases' regions, where a round's correspondences are given."""
        if "correspondences" not in self.files:
            return None
        if not isinstance(forest, Forest):
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

"""Matched pairs of images and sentences, as batches of tensors, from the artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import feature_schema
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.vocabulary import WORD_VECTORS
from densevse.artifacts.store import FeatureStore
from densevse.errors import InputError
from densevse.evaluation.protocols import TestSet, select_split
from densevse.language.words import Vocabulary, tokenize
from densevse.logs import logger
from densevse.methods.interface import Batch, Images, Sentences, Shapes
from densevse.training.features import Features
from densevse.training.forest import Forest, PhraseRegions
from densevse.training.ragged import Indices, Ragged


@dataclass(frozen=True)
class Files:
    """The artifacts that a method reads."""

    images: str
    captions: str
    words: str
    features: dict[str, list[str]]  # view -> its shards
    parses: list[str]  # none where the method reads no trees
    word_vectors: str | None
    correspondences: str | None

    @classmethod
    def of(cls, named: Mapping[str, Any]) -> Self:
        """From a rule's named inputs: image_table, caption_table, words, features_<view>, and what else it has."""
        prefix = "features_"
        views = {name.removeprefix(prefix): list(named[name]) for name in named if name.startswith(prefix)}
        return cls(
            named["image_table"],
            named["caption_table"],
            named["words"],
            views,
            list(named.get("parses", [])),
            named.get("word_vectors"),
            named.get("correspondences"),
        )


class Inputs:
    """A data set's artifacts, opened once for all its splits."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.images = schema.read(files.images, IMAGES)
        self.captions = schema.read(files.captions, CAPTIONS)
        self.vocabulary = Vocabulary.read(files.words)
        self.stores = {view: FeatureStore(paths, feature_schema(view)) for view, paths in files.features.items()}

    def shapes(self) -> Shapes:
        """The sizes that the data gives a method."""
        features = {view: int(store.shape[-1]) for view, store in self.stores.items()}
        return Shapes(features, len(self.vocabulary), self._word_vectors())

    def features_made_from(self) -> dict[str, dict[str, Any]]:
        """View -> what its features were made from: network, layer, weights."""
        return {view: store.made_from for view, store in self.stores.items()}

    def pairs(self, split: str) -> "Pairs":
        """The readable images of a split and their sentences. Raises `InputError` if there are none."""
        return Pairs(self, select_split(self.images, self.captions, split))

    def _word_vectors(self) -> torch.Tensor | None:
        if self.files.word_vectors is None:
            return None
        rows = schema.read(self.files.word_vectors, WORD_VECTORS, ["index", "vector"])
        if not rows["index"].between(0, len(self.vocabulary) - 1).all():
            raise InputError(f"{self.files.word_vectors}: of another vocabulary than {self.files.words}; delete it.")
        vectors = np.zeros((len(self.vocabulary), len(rows["vector"].iloc[0])), np.float32)
        vectors[rows["index"]] = np.stack(rows["vector"].to_list())
        return torch.from_numpy(vectors)


class Pairs:
    """A split: its images in table order, and its sentences in the order of their images."""

    def __init__(self, inputs: Inputs, rows: TestSet) -> None:
        self._inputs, self.rows = inputs, rows
        self._features = {view: Features(store, rows.image_ids, view) for view, store in inputs.stores.items()}
        captions = inputs.captions.set_index("caption_id").loc[list(rows.caption_ids)].reset_index()
        encode = inputs.vocabulary.encode
        words = [encode(tokenize(text)) or encode([""]) for text in captions["text"]]  # at least the unknown word
        self._sentences = Ragged.of_lengths([len(sentence) for sentence in words])
        self._words = np.concatenate(words).astype(np.int64)
        self.forest = self._read_forest(captions) if inputs.files.parses else None
        logger.info("%d images with %d sentences", len(rows.image_ids), len(rows.caption_ids))

    def images(self, rows: Indices) -> Images:
        """Some images of the split."""
        gathered = {view: features.gather(rows) for view, features in self._features.items()}
        present = [mask for view, (_, mask) in gathered.items() if self._features[view].regions]
        views = {view: vectors for view, (vectors, _) in gathered.items()}
        return Images(views, present[0] if present else torch.ones(len(rows), 0, dtype=torch.bool))

    def sentences(self, rows: Indices) -> Sentences:
        """Some sentences of the split, with their trees and phrases where the method reads them."""
        items, owner, place = self._sentences.take(rows)
        lengths = self._sentences.lengths(rows)
        words = np.zeros((len(rows), int(lengths.max(initial=1))), np.int64)
        words[owner, place] = self._words[items]
        trees = self.forest.trees(rows) if self.forest else None
        assigned = self.phrases.correspondences(rows, self.forest) if self.phrases and self.forest else None
        return Sentences(torch.from_numpy(words), torch.from_numpy(lengths), trees, assigned)

    def batch(self, sentences: Indices) -> Batch:
        """Some sentences, each with its image; an image that comes twice is a true image of both sentences."""
        images = self.rows.image_of_caption[sentences]
        return Batch(
            self.images(images), self.sentences(sentences), torch.from_numpy(images[:, None] == images[None, :])
        )

    @cached_property
    def phrases(self) -> PhraseRegions | None:
        """The phrases' regions, where a round's correspondences are given."""
        path = self._inputs.files.correspondences
        if path is None or self.forest is None:
            return None
        return PhraseRegions.read(schema.read(path, CORRESPONDENCES), self.forest)

    def _read_forest(self, captions: Any) -> Forest:
        columns = ["caption_id", "status", "tokens", "tree"]
        parses = schema.read_all(self._inputs.files.parses, PARSES, columns)
        return Forest.read(parses, captions, self._inputs.vocabulary)

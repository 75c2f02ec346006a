"""A data set's artifacts, opened once for all its splits, and each split as pairs of images and sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES, network_settings, settings_with_parents
from densevse.artifacts.schemas.sentences import WORD_VECTORS
from densevse.data.distinct import Distinct
from densevse.data.files import Artifacts, Files
from densevse.data.ragged import Ragged
from densevse.data.structures import Structure, structure_class
from densevse.data.views import View, ViewOfRegions, view_class
from densevse.evaluation.protocols import TestSet, select_split, subsample_test_set
from densevse.methods.interface import Batch, Correspondences, Images, Sentences, Shapes
from densevse.runtime.arrays import Indices
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.store import FeatureStore

if TYPE_CHECKING:  # imported for type checks only, so that its code counts only for jobs that read trees
    from densevse.data.structures.trees import Forest


@dataclass(frozen=True)
class PhraseRegions:
    """The region assigned to each noun phrase; phrases are in the order of the sentences."""

    phrases: Ragged  # the phrases of each sentence
    node: Indices  # (phrases,) counted within the sentence
    region: Indices  # (phrases,)
    confidence: NDArray[np.float32]  # (phrases,)

    @classmethod
    def read(cls, rows: pd.DataFrame, forest: "Forest") -> Self:
        """Joins CORRESPONDENCES rows with the trees by caption and token span.

        Ignores captions of other splits. Raises `InputError` if a tree lacks a phrase, and names it.
        """
        sentence = pd.Index(forest.caption_ids).get_indexer(pd.Index(rows["caption_id"]))
        rows, sentence = rows[sentence >= 0], sentence[sentence >= 0]
        start, end = rows["start"].to_numpy(np.int64), rows["end"].to_numpy(np.int64)
        node = forest.find(sentence, start, end)
        if (node < 0).any():
            unknown = int(np.argmin(node))
            raise InputError(
                f"correspondences: the tree of caption {rows['caption_id'].iloc[unknown]!r} has no phrase of "
                f"tokens {start[unknown]} to {end[unknown]}; they were made from other parses. Delete them and run "
                "snakemake again."
            )
        order = np.lexsort((node, sentence))
        return cls(
            Ragged.from_lengths(np.bincount(sentence, minlength=len(forest.caption_ids))),
            node[order],
            rows["region"].to_numpy(np.int64)[order],
            rows["confidence"].to_numpy(np.float32)[order],
        )

    def correspondences(self, sentences: Indices, forest: "Forest") -> Correspondences:
        """The phrases of some sentences; a phrase's weight w_dk is its confidence (HM-LSTM, section 3.3)."""
        rows, owner, _ = self.phrases.take(sentences)
        lengths = forest.lengths(sentences)
        node = self.node[rows] + (np.cumsum(lengths) - lengths)[owner]
        return Correspondences(*map(torch.from_numpy, (owner, node, self.region[rows], self.confidence[rows])))


class Pairs:
    """A split: its images in table order, and its sentences grouped by image in the same order.

    With `regions` "all", a batch holds every region of its images. With "assigned" it reads only the whole image (rank
    0) and the regions that are assigned to the sentences' `phrases`.
    """

    def __init__(
        self,
        rows: TestSet,
        views: Mapping[str, View],
        structures: Mapping[str, Structure],
        phrases: PhraseRegions | None = None,
        regions: Literal["all", "assigned"] = "all",
    ) -> None:
        self.rows, self.structures, self.regions = rows, dict(structures), regions
        self._views = dict(views)
        self._phrases = phrases

    def send_to(self, device: torch.device, most: int) -> int:
        """Prepares the split for a GPU: features in batches are then `Stored`, and `to_device` makes tensors of them.

        Features that batches read are kept in its memory, a view at a time, up to `most` bytes. Returns the bytes that
        are kept.
        """
        kept = 0
        for name, view in self._views.items():
            size = view.send_to(device, most - kept, *self._needed_regions(view))
            logger.info("features %s: %s", name, f"{size / 1e9:.2f} GB on the GPU" if size else "copied for each batch")
            kept += size
        return kept

    def images(self, rows: Indices) -> Images:
        """Some images of the split."""
        every = np.arange(len(rows))
        return self._images(rows, (every, np.zeros_like(every)) if self.regions == "assigned" else None)

    def sentences(self, rows: Indices) -> Sentences:
        """Some sentences of the split."""
        return Sentences({name: structure.take(rows) for name, structure in self.structures.items()})

    @cached_property
    def distinct_images(self) -> Distinct:
        """The images of the split as kinds that have equal values in all views."""
        return Distinct.from_contents(self.images(np.array([row])) for row in range(len(self.rows.image_ids)))

    @cached_property
    def distinct_sentences(self) -> Distinct:
        """The sentences of the split as kinds that have equal structures."""
        count = len(self.rows.caption_ids)
        return Distinct.from_contents(
            zip(*(structure.contents(count) for structure in self.structures.values()), strict=True)
        )

    def batch(self, sentences: Indices) -> Batch:
        """Some sentences, each with its image. An image that comes twice is a true image of both sentences."""
        rows = self.rows.image_of_caption[sentences]
        positives = torch.from_numpy(rows[:, None] == rows[None, :])
        found = self._phrases.correspondences(sentences, self.forest()) if self._phrases else None
        if found is None or self.regions == "all":
            return Batch(self.images(rows), self.sentences(sentences), positives, found)
        owner, rank, place = _distinct_regions(len(rows), found)
        images = self._images(rows, (owner, rank))
        return Batch(images, self.sentences(sentences), positives, replace(found, region=torch.from_numpy(place)))

    def forest(self) -> "Forest":
        """The trees of the split. Raises `InputError` if they were not read."""
        if "trees" not in self.structures:
            raise InputError("phrases need trees: the method's `sentences` must hold trees.")
        return cast("Forest", self.structures["trees"])

    def _needed_regions(self, view: View) -> tuple[Indices, Indices]:
        """All that batches read of a view: images, and in each the rank of a region (0 if the view has none)."""
        every = np.arange(len(self.rows.image_ids))
        if not isinstance(view, ViewOfRegions):
            return every, np.zeros_like(every)
        if self.regions == "all":
            return view.all_regions(every)
        image, region = every[:0], every[:0]
        if self._phrases:
            _, sentence, _ = self._phrases.phrases.take(np.arange(len(self.rows.caption_ids)))
            image, region = self.rows.image_of_caption[sentence], self._phrases.region
        return np.concatenate((every, image)), np.concatenate((np.zeros_like(every), region))

    def _images(self, rows: Indices, some: tuple[Indices, Indices] | None) -> Images:
        """Some images with all their regions, or with those given by owner and rank."""
        views: dict[str, Any] = {}
        present, scores = torch.ones(len(rows), 0, dtype=torch.bool), None
        for name, found in self._views.items():
            if isinstance(found, ViewOfRegions):
                views[name], present, scores = found.take_regions(rows, *(some or found.all_regions(rows)))
            else:
                views[name] = found.take(rows)
        return Images(views, present, scores, present.numpy())


def _distinct_regions(images: int, phrases: Correspondences) -> tuple[Indices, Indices, Indices]:
    """The whole image and the distinct assigned regions, by owner and rank; and each phrase's place among them."""
    sentence, region = phrases.sentence.numpy(), phrases.region.numpy()
    ranks = 1 + int(region.max(initial=0))
    wanted, wholes = sentence * ranks + region, np.arange(images) * ranks
    distinct = np.unique(np.concatenate((wholes, wanted)))
    owner, rank = np.divmod(distinct, ranks)
    place = np.searchsorted(distinct, wanted) - np.searchsorted(distinct, wholes)[sentence]
    return owner, rank, place


NETWORK = "network"
"""The name of the job's input with the first weights of a network that is trained with the method."""


class Inputs(Artifacts):
    """The data that a method reads: views from the job's files, and the named structures of sentences."""

    def __init__(self, files: Files, sentences: Sequence[str], encoded_by: Mapping[str, Any] | None = None) -> None:
        """`encoded_by` describes a network that encodes whole sentences, as for `Artifacts`."""
        self.sentences = tuple(sentences)
        self._kinds = {view: view_class(view) for view in files.views()}
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
        return schema.read(self.files.input_path("caption_table"), CAPTIONS, columns)

    @property
    def has_region_views(self) -> bool:
        """True if the method reads regions of images."""
        return bool(self._region_views())

    @property
    def regions(self) -> FeatureStore:
        """The regions of images with their boxes; a method reads their vectors or their pixels."""
        return self.stores[self._region_views()[0]]

    def _region_views(self) -> list[str]:
        return [view for view, kind in self._kinds.items() if issubclass(kind, ViewOfRegions)]

    def shapes(self) -> Shapes:
        """The sizes that the data gives a method."""
        features = {view: kind.size(self, view) for view, kind in self._kinds.items()}
        sizes = {key: size for name in self.sentences for key, size in structure_class(name).sizes(self).items()}
        words = len(self.vocabulary) if self.knows_words else 0
        return Shapes(features, words, self._word_vectors(), sizes, self._network())

    def feature_settings(self) -> dict[str, dict[str, Any]]:
        """View -> how its features see images: network, layer, weights; see `settings_with_parents`."""
        return {view: settings_with_parents(store.statement) for view, store in self.stores.items()}

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
        rows = rows if images is None else subsample_test_set(rows, images)
        structures = {name: structure_class(name).read(self, rows.caption_ids) for name in self.sentences}
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
        described = network_settings(self.regions.statement)
        network: nn.Module = kind.from_file(described, self.files.input_path(NETWORK))
        return network

    def all_images(self, split: str, regions: Literal["all", "assigned"] = "all") -> Pairs:
        """The readable images of a split, with sentences or without. Raises `InputError` if there are none."""
        kept = self.images[(self.images["split"] == split) & (self.images["status"] == "ok")]
        if kept.empty:
            raise InputError(f"{self.files.input_path('image_table')}: the {split} split has no readable image.")
        ids, families = (kept[name].to_numpy(dtype=object) for name in ("image_id", "family"))
        rows = TestSet(ids, np.empty(0, object), np.empty(0, np.int64), families)
        return Pairs(rows, self._views(ids), {}, regions=regions)

    def all_sentences(self, split: str) -> Pairs:
        """The sentences of a split, with images or without. Raises `InputError` if there are none."""
        ids = self.captions.loc[self.captions["split"] == split, "caption_id"].to_numpy(dtype=object)
        if not len(ids):
            raise InputError(f"{self.files.input_path('caption_table')}: the {split} split has no sentence.")
        rows = TestSet(np.empty(0, object), ids, np.empty(0, np.int64), np.empty(0, object))
        return Pairs(rows, {}, {name: structure_class(name).read(self, ids) for name in self.sentences})

    def _phrases(self, forest: Any) -> PhraseRegions | None:
        """The regions assigned to phrases; None if the round has no correspondences."""
        if "correspondences" not in self.files:
            return None
        if forest is None:
            raise InputError("correspondences are of noun phrases: the method's `sentences` must hold trees.")
        return PhraseRegions.read(schema.read(self.files.input_path("correspondences"), CORRESPONDENCES), forest)

    def _word_vectors(self) -> torch.Tensor | None:
        if "word_vectors" not in self.files:
            return None
        path = self.files.input_path("word_vectors")
        rows = schema.read(path, WORD_VECTORS, ["index", "vector"])
        if not rows["index"].between(0, len(self.vocabulary) - 1).all():
            raise InputError(f"{path}: of another vocabulary than {self.files.input_path('words')}; delete it.")
        vectors = np.zeros((len(self.vocabulary), len(rows["vector"].iloc[0])), np.float32)
        vectors[rows["index"]] = np.stack(rows["vector"].to_list())
        return torch.from_numpy(vectors)

"""Pairs of images and sentences in batches, and the regions of their phrases."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.views import View, ViewOfRegions
from densevse.evaluation.protocols import TestSet
from densevse.methods.interface import Batch, Correspondences, Images, Sentences
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError

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
            Ragged.of_lengths(np.bincount(sentence, minlength=len(forest.caption_ids))),
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


if TYPE_CHECKING:  # imported for type checks only, so that its code counts only for jobs that read trees
    from densevse.data.structures.trees import Forest


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

    def images(self, rows: Indices) -> Images:
        """Some images of the split."""
        every = np.arange(len(rows))
        return self._images(rows, (every, np.zeros_like(every)) if self.regions == "assigned" else None)

    def sentences(self, rows: Indices) -> Sentences:
        """Some sentences of the split."""
        return Sentences({name: structure.take(rows) for name, structure in self.structures.items()})

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

    def _images(self, rows: Indices, some: tuple[Indices, Indices] | None) -> Images:
        """Some images with all their regions, or with those given by owner and rank."""
        views, present, scores = {}, torch.ones(len(rows), 0, dtype=torch.bool), None
        for name, found in self._views.items():
            if isinstance(found, ViewOfRegions):
                views[name], present, scores = found.take_some(rows, *(some or found.all_of(rows)))
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

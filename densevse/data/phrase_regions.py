"""Joins the regions assigned to noun phrases with the trees of their sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.methods.interface import Correspondences
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

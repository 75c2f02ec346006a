"""Ensembles of methods, which add up their members' scores."""

from collections.abc import Sequence

import torch
from torch import Tensor

from densevse.evaluation.ranks import ScoreBlock
from densevse.evaluation.retrieval import Scorer
from densevse.runtime.arrays import Indices


def summed(scorers: Sequence[Scorer]) -> Scorer:
    """The scores of an ensemble: sums of its members' scores, block by block (sm-LSTM*, section 4.2)."""

    def of_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        members = [scorer(image_rows, sentence_rows) for scorer in scorers]

        def score_block(image: slice, sentence: slice) -> Tensor:
            return torch.stack([member(image, sentence) for member in members]).sum(dim=0)

        return score_block

    return of_rows

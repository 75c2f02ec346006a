"""Scores blocks of images and sentences from their encodings."""

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from densevse.data.distinct import Distinct
from densevse.evaluation.retrieval import Scorer
from densevse.evaluation.tiles import ScoreBlock
from densevse.methods.interface import Encoding, Method, SomeEncoding, replace_parts
from densevse.models.encoding import evaluation, select_rows
from densevse.runtime.arrays import Indices, as_array


def scorer(method: Method, images: Encoding, sentences: Encoding) -> Scorer:
    """Returns a function that scores blocks of images and sentences, given by their rows in the encodings.

    Each score of distinct encodings is computed once and copied, so equal images tie for every sentence, and equal
    sentences for every image, however a method or a library rounds. What several rows share is scored when a first
    block asks for it, and kept; memory holds these scores and one block.
    """
    distinct_images, distinct_sentences = _distinct_rows(images), _distinct_rows(sentences)

    def score_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        of_images = _Side(images, distinct_images, image_rows)
        return _Blocks(method, of_images, _Side(sentences, distinct_sentences, sentence_rows))

    return score_rows


def score_in_tiles(method: Method, images: Encoding, sentences: Encoding) -> Tensor:
    """(I, S) scores of a method, which gets at most `Method.tile` images and sentences at once."""
    high, wide = method.tile
    with evaluation(method):
        rows = [
            torch.cat([method.score(some, others) for others in _split(sentences, wide)], dim=1)
            for some in _split(images, high)
        ]
    return torch.cat(rows)


class _Side:
    """The images or the sentences of a fold, as kinds of equal ones; the kinds of one row have the lowest numbers."""

    def __init__(self, encoding: Encoding, distinct: Distinct, rows: Indices) -> None:
        kinds, kind, counts = np.unique(distinct.row[rows], return_inverse=True, return_counts=True)
        order = np.argsort(counts > 1, kind="stable")
        self._encoding, self.first = encoding, distinct.first[kinds[order]]
        self.kind = np.argsort(order)[kind]  # (rows,)
        self.single, self.shared = np.split(np.arange(len(kinds)), [np.count_nonzero(counts == 1)])

    def encoding(self, kinds: Indices) -> Encoding:
        """The encoding of some kinds."""
        return select_rows(self._encoding, self.first[kinds])

    def sort(self, rows: slice) -> tuple[Indices, Indices, Indices]:
        """The kinds of some rows, single ones and shared ones, and the place of each row among both."""
        kind = self.kind[rows]
        order = np.argsort(kind, kind="stable")
        single, shared = np.split(kind[order], [np.count_nonzero(kind < len(self.single))])
        return single, shared, np.argsort(order)


class _Blocks:
    """The `ScoreBlock` of a fold."""

    def __init__(self, method: Method, images: _Side, sentences: _Side) -> None:
        self._method, self._images, self._sentences = method, images, sentences

    def __call__(self, images: slice, sentences: slice) -> Tensor:
        single_rows, shared_rows, row_order = self._images.sort(images)
        single_columns, shared_columns, column_order = self._sentences.sort(sentences)
        own = torch.cat(
            (
                self._score(single_rows, single_columns),
                _select(self._shared_image_scores, shared_rows - len(self._images.single), single_columns),
            )
        )
        rows = np.concatenate((single_rows, shared_rows))
        shared = _select(self._shared_sentence_scores, rows, shared_columns - len(self._sentences.single))
        return _select(torch.cat((own, shared), dim=1), row_order, column_order)

    @cached_property
    def _shared_image_scores(self) -> Tensor:
        """(shared images, single sentences) scores."""
        return self._score(self._images.shared, self._sentences.single)

    @cached_property
    def _shared_sentence_scores(self) -> Tensor:
        """(images, shared sentences) scores."""
        return self._score(np.arange(len(self._images.first)), self._sentences.shared)

    def _score(self, images: Indices, sentences: Indices) -> Tensor:
        """(I, S) scores of some kinds."""
        encoded = self._images.encoding(images), self._sentences.encoding(sentences)
        if not (len(images) and len(sentences)):
            return encoded[0][0].new_empty(len(images), len(sentences), dtype=torch.float32)
        return score_in_tiles(self._method, *encoded)


def _select(scores: Tensor, rows: Indices, columns: Indices) -> Tensor:
    return scores[torch.from_numpy(rows)[:, None].to(scores.device), torch.from_numpy(columns).to(scores.device)]


def _distinct_rows(encoding: Encoding) -> Distinct:
    return Distinct.from_contents(zip(*map(as_array, encoding), strict=True))


def _split(encoding: SomeEncoding, size: int) -> list[SomeEncoding]:
    return [replace_parts(encoding, parts) for parts in zip(*(part.split(size) for part in encoding), strict=True)]

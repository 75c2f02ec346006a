"""Scores blocks of images and sentences from their encodings."""

import torch
from torch import Tensor

from densevse.evaluation.retrieval import Scorer
from densevse.evaluation.tiles import ScoreBlock
from densevse.methods.interface import Encoding, Method, replace_parts
from densevse.models.encoding import evaluation
from densevse.runtime.arrays import Indices

MULTIPLE = 64


def scorer(method: Method, images: Encoding, sentences: Encoding) -> Scorer:
    """Returns a function that scores blocks of images and sentences, given by their rows in the encodings.

    For any block, the method scores tiles of one shape (`Method.tile`, or smaller if there are fewer rows); the last
    tile is filled up with copies of the last row. Libraries compute products of different shapes with different
    kernels, whose last bits differ. In a smaller last tile, identical items would have different scores and would not
    tie. A method that divides tiles further (sm-LSTM, by the lengths of sentences), or computes once what sentences
    share (NIC), has no such guarantee.
    """

    def score_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        some_images = _rows(images, torch.from_numpy(image_rows))
        some_sentences = _rows(sentences, torch.from_numpy(sentence_rows))
        high, wide = (
            min(size, -(-len(rows) // MULTIPLE) * MULTIPLE)
            for size, rows in zip(method.tile, (image_rows, sentence_rows), strict=True)
        )

        def score_block(image: slice, sentence: slice) -> Tensor:
            with evaluation(method):
                parts = [
                    torch.cat([_score(method, row, column) for column in _tiles(some_sentences, sentence, wide)], dim=1)
                    for row in _tiles(some_images, image, high)
                ]
            return torch.cat(parts)

        return score_block

    return score_rows


def _score(method: Method, images: tuple[Encoding, int], sentences: tuple[Encoding, int]) -> Tensor:
    return method.score(images[0], sentences[0])[: images[1], : sentences[1]]


def _tiles(encoding: Encoding, rows: slice, size: int) -> list[tuple[Encoding, int]]:
    """The encoding's `rows` in parts of exactly `size` rows, and the number of rows in each that are no copies."""
    tiles = []
    for start in range(rows.start, rows.stop, size):
        count = min(size, rows.stop - start)
        wanted = torch.arange(start, start + size).clamp(max=start + count - 1)
        tiles.append((_rows(encoding, wanted) if count < size else _slice(encoding, start, size), count))
    return tiles


def _rows(encoding: Encoding, rows: Tensor) -> Encoding:
    return replace_parts(encoding, (part[rows.to(part.device, non_blocking=True)] for part in encoding))


def _slice(encoding: Encoding, start: int, size: int) -> Encoding:
    return replace_parts(encoding, (part[start : start + size] for part in encoding))

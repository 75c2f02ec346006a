"""Encoding a whole split with a method, and scoring blocks of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from densevse.methods.interface import Method, to_device
from densevse.training.data import Pairs
from densevse.training.ragged import Indices

Encoding: TypeAlias = tuple[Tensor, ...]
ScoreBlock: TypeAlias = Callable[[slice, slice], Tensor]

BATCH = 256


@contextmanager
def evaluation(method: Method) -> Iterator[None]:
    """Put a method into evaluation mode, without gradients; afterwards it is in the mode that it was in."""
    training = method.training
    method.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        method.train(training)


def encode_images(method: Method, pairs: Pairs, batch: int = BATCH) -> Encoding:
    """Everything the method computes of the split's images alone: tensors that all begin with the image."""
    device = next(method.parameters()).device
    with evaluation(method):
        return concatenated(
            [
                method.encode_images(to_device(pairs.images(rows), device))
                for rows in _batches(len(pairs.rows.image_ids), batch)
            ]
        )


def encode_sentences(method: Method, pairs: Pairs, batch: int = BATCH) -> Encoding:
    """Everything the method computes of the split's sentences alone: tensors that all begin with the sentence."""
    device = next(method.parameters()).device
    with evaluation(method):
        return concatenated(
            [
                method.encode_sentences(to_device(pairs.sentences(rows), device))
                for rows in _batches(len(pairs.rows.caption_ids), batch)
            ]
        )


def scorer(method: Method, images: Encoding, sentences: Encoding) -> Callable[[Indices, Indices], ScoreBlock]:
    """Score blocks of some images and some sentences, given by their rows in the encodings."""

    def of_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        some_images = tuple(part[torch.from_numpy(image_rows)] for part in images)
        some_sentences = tuple(part[torch.from_numpy(sentence_rows)] for part in sentences)

        def score_block(image: slice, sentence: slice) -> Tensor:
            with evaluation(method):
                return method.score(
                    tuple(part[image] for part in some_images), tuple(part[sentence] for part in some_sentences)
                )

        return score_block

    return of_rows


def concatenated(encodings: list[Encoding]) -> Encoding:
    """Join batches of encodings; where they differ in width (words of a sentence), with zeros at the end."""
    return tuple(torch.cat(_of_one_width(parts)) for parts in zip(*encodings, strict=True))


def _of_one_width(parts: tuple[Tensor, ...]) -> list[Tensor]:
    widths = [max(sizes) for sizes in zip(*(part.shape[1:] for part in parts), strict=True)]
    return [functional.pad(part, _padding(part, widths)) for part in parts]


def _padding(part: Tensor, widths: list[int]) -> list[int]:
    """As `pad` wants it: the last dimension first, each with what goes before and what goes after."""
    missing = [width - size for width, size in zip(widths, part.shape[1:], strict=True)]
    return [amount for after in reversed(missing) for amount in (0, after)]


def _batches(count: int, size: int) -> list[Indices]:
    return [np.arange(start, min(start + size, count)) for start in range(0, count, size)]

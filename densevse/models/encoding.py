"""Encodes a whole split with a trained method."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.data.distinct import Distinct
from densevse.data.inputs import Pairs
from densevse.methods.interface import Encoding, Method, SomeEncoding, module_device, replace_parts
from densevse.methods.moving import to_device
from densevse.runtime.arrays import Indices

BATCH = 256


@contextmanager
def evaluation(module: nn.Module) -> Iterator[None]:
    """Sets a module to evaluation mode without gradients, and restores its mode afterwards."""
    training = module.training
    module.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        module.train(training)


def encode_images(method: Method, pairs: Pairs, batch: int = BATCH) -> Encoding:
    """Encodes all images of a split; the first dimension of each tensor is the image.

    Equal images are encoded once, so that their encodings are equal by construction.
    """
    return _encode_distinct(method, method.encode_images, pairs.images, pairs.distinct_images, batch)


def encode_sentences(method: Method, pairs: Pairs, batch: int = BATCH) -> Encoding:
    """Encodes all sentences of a split, equal ones once; the first dimension of each tensor is the sentence."""
    return _encode_distinct(method, method.encode_sentences, pairs.sentences, pairs.distinct_sentences, batch)


def _encode_distinct(
    method: Method,
    encode: Callable[[Any], Encoding],
    take: Callable[[Indices], Any],
    distinct: Distinct,
    batch: int,
) -> Encoding:
    device = module_device(method)
    with evaluation(method):
        encoded = join_encodings(
            [encode(to_device(take(distinct.first[rows]), device)) for rows in batches(len(distinct), batch)]
        )
    return encoded if len(distinct) == len(distinct.row) else select_rows(encoded, distinct.row)


def select_rows(encoding: SomeEncoding, rows: Indices) -> SomeEncoding:
    """Some rows of an encoding."""
    index = torch.from_numpy(rows)
    return replace_parts(encoding, (part[index.to(part.device, non_blocking=True)] for part in encoding))


def join_encodings(encodings: list[SomeEncoding]) -> SomeEncoding:
    """Joins batches of encodings; narrower ones (shorter sentences) are padded with zeros at the end."""
    return replace_parts(encodings[0], (torch.cat(_pad_to_widest(parts)) for parts in zip(*encodings, strict=True)))


def _pad_to_widest(parts: tuple[Tensor, ...]) -> list[Tensor]:
    widths = [max(sizes) for sizes in zip(*(part.shape[1:] for part in parts), strict=True)]
    return [pad_tensor(part, widths) for part in parts]


def pad_tensor(part: Tensor, widths: Sequence[int]) -> Tensor:
    """Pads (n, ...) to (n, *widths) with zeros at the end of each dimension."""
    missing = [width - size for width, size in zip(widths, part.shape[1:], strict=True)]
    # `pad` takes the last dimension first, and for each dimension the padding before and after it.
    return functional.pad(part, [amount for after in reversed(missing) for amount in (0, after)])


def batches(count: int, size: int) -> list[Indices]:
    """The numbers below `count`, in batches of at most `size`."""
    return [np.arange(start, min(start + size, count)) for start in range(0, count, size)]

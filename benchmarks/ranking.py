"""Ranking 5,000 images against 25,000 sentences at 1024-d, both ways, against its one matrix product.

Where memory is far above its target, glibc's heap keeps freed tiles of 20 MB apart instead of using them again: with
`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=4000000` the same ranking takes about 40 MB.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks._timing import times_as_fast
from densevse.evaluation.ranks import evaluate


class Sizes(NamedTuple):
    """Sizes of the test set and of its tiles, and the number of repetitions."""

    images: int
    sentences: int
    dimension: int
    block: int
    pairs: int


FULL = Sizes(5000, 25_000, dimension=1024, block=1000, pairs=5)
TOY = Sizes(4, 8, dimension=3, block=3, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(sizes.images, sizes.dimension, generator=generator)
    sentences = torch.randn(sizes.sentences, sizes.dimension, generator=generator)
    image_of_sentence = torch.arange(sizes.sentences) // (sizes.sentences // sizes.images)

    def rank() -> None:
        evaluate(lambda i, j: images[i] @ sentences[j].T, image_of_sentence, sizes.images, sizes.block)

    def product() -> None:
        for some in images.split(sizes.block):
            some @ sentences.T

    ratio = 1 / times_as_fast(rank, product, sizes.pairs)
    memory = extra_memory(rank)
    what = f"ranks of {sizes.images:,} x {sizes.sentences:,} at {sizes.dimension}-d"
    return [
        (f"{what} / its matrix product", "<= 1.3", ratio, f"median of {sizes.pairs} pairs, in turns"),
        (f"{what}: extra memory, MB", "<= 150", memory, "peak resident size above that before"),
    ]


def extra_memory(work: Callable[[], None]) -> float:
    """MB by which the peak resident size of this process rises above its value before (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    work()
    return (status("VmHWM") - before) / 1024


def status(key: str) -> int:
    """A value of /proc/self/status, in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(key)))

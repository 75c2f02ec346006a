"""Ranking 5,000 images against 25,000 sentences at 1024-d, both ways, against its one matrix product."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks._timing import times_as_fast
from densevse.evaluation.ranks import evaluate

IMAGES, SENTENCES, DIMENSION, BLOCK = 5000, 25000, 1024, 1000
PAIRS = 5


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the ratio or figure, a note."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(IMAGES, DIMENSION, generator=generator)
    sentences = torch.randn(SENTENCES, DIMENSION, generator=generator)
    image_of_sentence = torch.arange(SENTENCES) // (SENTENCES // IMAGES)

    def rank() -> None:
        evaluate(lambda i, j: images[i] @ sentences[j].T, image_of_sentence, IMAGES, BLOCK)

    def product() -> None:
        for start in range(0, IMAGES, BLOCK):
            images[start : start + BLOCK] @ sentences.T

    ratio = 1 / times_as_fast(rank, product, PAIRS)
    memory = extra_memory(rank)
    what = f"ranks of {IMAGES:,} x {SENTENCES:,} at {DIMENSION}-d"
    return [
        (f"{what} / its matrix product", "<= 1.3", ratio, f"median of {PAIRS} pairs, in turns"),
        (f"{what}: extra memory, MB", "<= 150", memory, "peak resident size above that before"),
    ]


def extra_memory(work: Callable[[], None]) -> float:
    """MB by which the peak resident size of this process rises above what it holds before (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again from here
    work()
    return (status("VmHWM") - before) / 1024


def status(key: str) -> int:
    """A figure of /proc/self/status, in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(key)))

"""Ranking 5,000 images against 25,000 sentences at 1024-d, both ways, against its one matrix product."""

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import torch

from densevse.evaluation.ranks import evaluate

IMAGES, SENTENCES, DIMENSION, BLOCK = 5000, 25000, 1024, 500
RUNS = 5


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the ratio or figure, a note; best of runs that alternate."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(IMAGES, DIMENSION, generator=generator)
    sentences = torch.randn(SENTENCES, DIMENSION, generator=generator)
    image_of_sentence = torch.arange(SENTENCES) // (SENTENCES // IMAGES)

    def rank() -> None:
        evaluate(lambda i, j: images[i] @ sentences[j].T, image_of_sentence, IMAGES, BLOCK)

    def product() -> None:
        for start in range(0, IMAGES, BLOCK):
            images[start : start + BLOCK] @ sentences.T

    product()
    rank()
    memory = extra_memory(rank)
    times = [(seconds(rank), seconds(product)) for _ in range(RUNS)]
    ranking, multiplying = (min(column) for column in zip(*times, strict=True))
    what = f"ranks of {IMAGES:,} x {SENTENCES:,} at {DIMENSION}-d"
    return [
        (f"{what} / its matrix product", "<= 1.3", ranking / multiplying, f"{ranking:.2f} s / {multiplying:.2f} s"),
        (f"{what}: extra memory, MB", "<= 150", memory, "peak resident size above that before"),
    ]


def seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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

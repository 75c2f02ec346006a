"""The device that is tested here: the simulated one or, where `TESTED_GPU=1` is set, this machine's GPU.

`make gpu-check` sets it, in a process of its own: torch takes a simulated device beside a GPU for the one to pin memory
for.
"""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional

REAL = os.environ.get("TESTED_GPU") == "1"
CPU = torch.device("cpu")

if REAL:
    DEVICE = torch.device("cuda", 0)
else:
    from tests.devices import COUNTS, PRETENDED

    DEVICE = PRETENDED


def begin() -> None:
    """Count from here on what is computed on the device."""
    if REAL:
        torch.cuda.reset_accumulated_memory_stats()
    else:
        COUNTS.clear()


def computed() -> bool:
    """True if something was computed on the device since `begin`."""
    return torch.cuda.memory_stats()["allocation.all.allocated"] > 0 if REAL else COUNTS.launches > 0


def launches() -> Counter[str]:
    """The kernels that were started since `begin`, by operator; of a GPU none is known."""
    return Counter() if REAL else COUNTS.operators.copy()


def pageable() -> int:
    """The copies to the device from memory that is not pinned, since `begin`; of a GPU none is known."""
    return 0 if REAL else COUNTS.pageable


def to_host() -> int | None:
    """The bytes that were copied to the host since `begin`; None where nobody counts them, on a GPU."""
    return None if REAL else COUNTS.to_host


@contextmanager
def counting_waits() -> Iterator[Callable[[], int]]:
    """Yields a function that returns how often the host waited for the device in this context."""
    if not REAL:
        before = COUNTS.waits.total()
        yield lambda: COUNTS.waits.total() - before
        return
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield lambda: sum("synchronizing CUDA operation" in str(warning.message) for warning in warned)
        finally:
            torch.cuda.set_sync_debug_mode("default")


def draw_alike(monkeypatch) -> None:
    """Let a GPU use the random numbers that the CPU draws: by itself it draws others. The simulated device does so."""
    if not REAL:
        return
    rand = torch.rand

    def draw(*size, device=CPU, **options) -> Tensor:
        drawn = rand(*size, **options)
        return drawn if torch.device(device) == CPU else drawn.pin_memory().to(device, non_blocking=True)

    def dropout(given: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        return given * (draw(given.shape, device=given.device) >= p) / (1 - p) if training and p else given

    monkeypatch.setattr(torch, "rand", draw)
    monkeypatch.setattr(functional, "dropout", dropout)

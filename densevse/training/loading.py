"""Moves batches to the device; for a GPU, threads make and copy the next ones during a computation."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from densevse.methods.interface import pinned, to_device
from densevse.runtime.ahead import ahead
from densevse.runtime.arrays import Indices
from densevse.training.task import Task


def loaded(task: Task, batches: Iterable[Indices], epoch: int, device: torch.device, threads: int = 1) -> Iterator[Any]:
    """Yields the task's batches on `device`, in order.

    For a GPU, threads make them ahead in pinned memory, so that copies do not block. On a CPU they are made on demand,
    as threads would slow down those that compute.
    """
    if device.type == "cpu":
        for examples in batches:
            yield task.batch(examples, epoch)
        return
    with ThreadPoolExecutor(threads) as pool:
        for batch in ahead(pool, lambda examples: pinned(task.batch(examples, epoch)), batches, depth=1 + threads):
            yield to_device(batch, device)

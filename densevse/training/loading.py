"""Batches on their way to the device: on a GPU the next ones are made and copied while one is computed."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from densevse.methods.interface import pinned, to_device
from densevse.runtime.arrays import Indices
from densevse.training.task import Task

AHEAD = 2  # batches


def loaded(task: Task, batches: Iterable[Indices], epoch: int, device: torch.device) -> Iterator[Any]:
    """The task's batches on `device`, in order.

    On a GPU a thread makes them ahead, in pinned memory, so that copying waits for nothing. On a CPU they are made when
    they are needed: a thread would take the time of those that compute.
    """
    if device.type == "cpu":
        for examples in batches:
            yield task.batch(examples, epoch)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(1) as thread:
        for examples in batches:
            waiting.append(thread.submit(lambda some: pinned(task.batch(some, epoch)), examples))
            if len(waiting) > AHEAD:
                yield to_device(waiting.popleft().result(), device)
        while waiting:
            yield to_device(waiting.popleft().result(), device)

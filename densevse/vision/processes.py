"""Processes that share the images of a shard, and the time that they take."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

import cv2

from snakeproof.errors import InputError
from snakeproof.logs import progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_processes(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    processes: int,
    title: str,
    begin: tuple[Any, ...] = (cv2.setNumThreads, 1),
) -> Iterator[Result]:
    """The results of `work` for each item, in order, from new processes.

    Each process first calls `begin`, a function with its arguments; by default it limits OpenCV to one thread. Raises
    `InputError` if a process is killed.
    """
    if not items:
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(processes, len(items)), context, begin[0], begin[1:]) as pool:
            yield from progress(pool.map(work, items), title, len(items))
    except BrokenProcessPool as error:
        raise InputError(
            f"{title}: a process was killed, most likely for lack of memory. Give the rule a higher `mem_mb` or fewer "
            "threads (docs/running.md), and run the same command again."
        ) from error


class Timer:
    """Processor seconds of each step, summed over all its uses."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Counts the time within the context as the step `name`."""
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start

"""Measures the time of the steps of a computation.

It counts processor seconds, which depend little on other processes of the machine. (A job that waits for a GPU keeps
the processor busy, so that this time counts too.)
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager


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

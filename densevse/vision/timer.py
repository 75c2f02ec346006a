"""How long the steps of a computation take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timer:
    """Seconds by step, added up over all its uses."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what happens inside as the step `name`."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

"""How long the steps of a computation take.

Seconds are the processor's, so that what else runs on the machine counts little. (A job that waits for a GPU keeps the
processor busy meanwhile, so that this is counted too.)
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timer:
    """Processor seconds by step, added up over all its uses."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what happens inside as the step `name`."""
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start

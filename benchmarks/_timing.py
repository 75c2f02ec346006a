"""Times two things against each other while other programs run: alternately, with the median over pairs."""

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Self
from unittest import mock


def times_as_fast(work: Callable[[], object], baseline: Callable[[], object], pairs: int) -> float:
    """The speed of `work` as a multiple of `baseline`'s: the median over pairs, after one unmeasured round."""
    return median_ratio(lambda: seconds(work), lambda: seconds(baseline), pairs)


def median_ratio(work: Callable[[], float], baseline: Callable[[], float], pairs: int) -> float:
    """The speed of `work` as a multiple of `baseline`'s: the median over pairs, after one unmeasured round."""
    work()
    baseline()
    return median(baseline() / work() for _ in range(pairs))


def seconds(work: Callable[[], object]) -> float:
    """The seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Contender:
    """Something to time in a separate process, with the environment of a job or of a plain user."""

    def __init__(self, make: Callable[..., Callable[[], object]], *arguments: Any, environment: Mapping[str, str]):
        spawn = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(there, make, arguments), daemon=True)
        with mock.patch.dict(os.environ, environment):
            self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def seconds(self) -> float:
        """Runs it once and returns the seconds. Raises `EOFError` or `OSError` if the process ended with an error."""
        self._here.send(None)
        return self._here.recv()


def _serve(asked: Any, make: Callable[..., Callable[[], object]], arguments: tuple[Any, ...]) -> None:
    work = make(*arguments)
    while True:
        asked.recv()
        asked.send(seconds(work))

"""Timing two things against each other while other programs come and go: in turns, and the median of the pairs."""

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Self
from unittest import mock


def times_as_fast(work: Callable[[], object], baseline: Callable[[], object], pairs: int) -> float:
    """How many times as fast as `baseline` `work` is: the median over pairs, after one unmeasured round."""
    return median_ratio(lambda: seconds(work), lambda: seconds(baseline), pairs)


def median_ratio(work: Callable[[], float], baseline: Callable[[], float], pairs: int) -> float:
    """The same of two functions that do something and say how many seconds it took."""
    work()
    baseline()
    return median(baseline() / work() for _ in range(pairs))


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Contender:
    """Something to time in a process of its own, whose environment is what a job or a plain user has."""

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
        """Do it once; how long it took. Raises `EOFError` or `OSError` if the process has ended with an error."""
        self._here.send(None)
        return self._here.recv()


def _serve(asked: Any, make: Callable[..., Callable[[], object]], arguments: tuple[Any, ...]) -> None:
    work = make(*arguments)
    while True:
        asked.recv()
        asked.send(seconds(work))

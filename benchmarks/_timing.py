"""Timing two things against each other while other programs come and go: in turns, and the median of the pairs."""

import time
from collections.abc import Callable
from statistics import median


def times_as_fast(work: Callable[[], object], baseline: Callable[[], object], pairs: int) -> float:
    """How many times as fast as `baseline` `work` is: the median over pairs, after one unmeasured round."""
    work()
    baseline()
    return median(seconds(baseline) / seconds(work) for _ in range(pairs))


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

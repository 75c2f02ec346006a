"""Does work ahead of a device, so that it does not wait for reading, decoding or cropping."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def prefetch_results(
    pool: Executor, work: Callable[[Item], Result], items: Iterable[Item], depth: int
) -> Iterator[Result]:
    """Yields `work(item)` in order, while `pool` works on up to `depth` further items."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > depth:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()

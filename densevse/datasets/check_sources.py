"""Asks every address of the sources for its header, so that dead ones are found before they are needed."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import requests

from densevse.config.sources import Source
from densevse.datasets.download import TIMEOUT, extent

_AT_ONCE = 8
_HEAD_REFUSED = {400, 403, 404, 405, 501}
"""HTTP states of servers that do not answer HEAD."""


class Answer(NamedTuple):
    """The answer of an address."""

    problem: str
    """The reason why the file cannot be obtained there; empty if it can."""
    size: int | None
    """Bytes of the file, if the server states them."""


class CheckedAddress(NamedTuple):
    """An address of a source (a path below resources/) and its answer."""

    source: str
    address: str
    expected: int | None
    """Bytes, if the configuration states them."""
    answer: Answer

    @property
    def problem(self) -> str:
        """The reason why the file cannot be obtained there, as far as a header shows; empty if it can."""
        if not self.answer.problem and self.expected and self.answer.size not in (None, self.expected):
            return "another size"
        return self.answer.problem


def check_sources(sources: Mapping[str, Source]) -> list[CheckedAddress]:
    """Asks each address of `sources` (by their paths below resources/); answers are in the same order."""
    asked = [(path, address, source.size) for path, source in sources.items() for address in source.addresses]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(ask, [address for _, address, _ in asked]))
    return [CheckedAddress(*one, answer) for one, answer in zip(asked, answers, strict=True)]


def ask(address: str) -> Answer:
    """Asks one address by HEAD, or for its first byte if HEAD is refused. Never raises: a failure is an answer."""
    try:
        state, answer = _asked("HEAD", address)
        return _asked("GET", address, Range="bytes=0-0")[1] if state in _HEAD_REFUSED else answer
    except requests.RequestException as error:
        return Answer(f"{type(error).__name__}: {error}", None)


def unobtainable(checked: Iterable[CheckedAddress]) -> list[str]:
    """The sources without any working address, in order."""
    obtainable: dict[str, bool] = {}
    for one in checked:
        obtainable[one.source] = obtainable.get(one.source, False) or not one.problem
    return [source for source, found in obtainable.items() if not found]


def _asked(method: str, address: str, **headers: str) -> tuple[int, Answer]:
    """HTTP's state, and the answer; the body is not read."""
    with requests.request(
        method,
        address,
        headers={"Accept-Encoding": "identity", **headers},
        stream=True,
        allow_redirects=True,
        timeout=TIMEOUT,
    ) as response:
        state = response.status_code
        return state, Answer("", extent(response)[1]) if state in (200, 206) else Answer(f"HTTP {state}", None)

"""Asks every address of the sources for its header, so that dead ones are found before they are needed."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from densevse.config.sources import Source
from densevse.datasets.answers import AddressError, DroppedError, check_answer, extent, receive_answer

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
        answers = list(pool.map(ask_address, [address for _, address, _ in asked]))
    return [CheckedAddress(*one, answer) for one, answer in zip(asked, answers, strict=True)]


def ask_address(address: str) -> Answer:
    """Asks one address by HEAD, or for its first byte if HEAD is refused. Never raises: a failure is an answer."""
    try:
        state, answer = _send_request("HEAD", address)
        return _send_request("GET", address, Range="bytes=0-0")[1] if state in _HEAD_REFUSED else answer
    except (AddressError, DroppedError) as error:
        return Answer(str(error), None)


def unobtainable_sources(checked: Iterable[CheckedAddress]) -> list[str]:
    """The sources without any working address, in order."""
    obtainable: dict[str, bool] = {}
    for one in checked:
        obtainable[one.source] = obtainable.get(one.source, False) or not one.problem
    return [source for source, found in obtainable.items() if not found]


def _send_request(method: str, address: str, **headers: str) -> tuple[int, Answer]:
    """HTTP's state, and the answer; of the body, no more than the first blocks are read."""
    with receive_answer(address, headers, method) as (response, _):
        state = response.status_code
        if state not in (200, 206):
            return state, Answer(f"HTTP {state}", None)
        check_answer(response, PurePosixPath(urlsplit(address).path).name)
        return state, Answer("", extent(response).total)

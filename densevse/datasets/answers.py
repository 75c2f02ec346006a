"""Receives what a server answers, and refuses what cannot be the file that was asked for.

A server decides when it sends what. So a thread of its own receives, and the caller waits for it no longer than
`PATIENCE`.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from queue import Empty, Queue
from typing import NamedTuple

import requests
import urllib3

BLOCK = 1 << 16
"""The most bytes that are received at once."""

PATIENCE = 60.0
"""Seconds to wait for an answer, and then for each `BLOCK` bytes of it."""

_CONNECT = 10.0
"""Seconds to wait for a connection."""

PASSING = {408, 425, 429, 500, 502, 503, 504}
"""HTTP states after which another attempt may succeed."""

_PLAIN = {"Accept-Encoding": "identity"}
"""The header that asks for the bytes of a file as they are."""

_PAGE = re.compile(
    rb"(\xef\xbb\xbf)?\s*(<\?xml.*?\?>\s*|<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_NUMBER = r"\d{1,18}"


class DroppedError(Exception):
    """An attempt ended before the file did; the next one continues there."""


class AddressError(Exception):
    """The file cannot be obtained from an address; another one may have it."""


class Extent(NamedTuple):
    """The bytes of a file that an answer has: from `start`, and up to `end`, of `total`, where the server says so."""

    start: int
    end: int | None
    total: int | None


@contextmanager
def receive_answer(
    url: str, headers: Mapping[str, str], method: str = "GET"
) -> Iterator[tuple[requests.Response, Iterator[bytes]]]:
    """Yields the answer of an address, and the blocks of its body as they are sent, without decoding.

    Both raise `DroppedError` if the connection fails or is too slow, `AddressError` if another attempt cannot help.
    """
    reception = _Reception(method, url, headers)
    try:
        answer = reception.next()
        assert isinstance(answer, requests.Response)
        yield answer, reception.blocks()
    finally:
        reception.stop()


class _Reception:
    """A thread that receives an answer; it ends with the process where its server never lets it."""

    def __init__(self, method: str, url: str, headers: Mapping[str, str]) -> None:
        self._received = Queue[requests.Response | bytes | Exception](maxsize=64)
        self._stopped = threading.Event()
        threading.Thread(target=self._receive, args=(method, url, headers), daemon=True).start()

    def next(self, patience: float | None = None) -> requests.Response | bytes:
        """The answer, then each block of it, then an empty one."""
        try:
            found = self._received.get(timeout=max(0.0, PATIENCE if patience is None else patience))
        except Empty:
            raise DroppedError(f"nothing, or less than {BLOCK:,} bytes, came within {PATIENCE:g} seconds") from None
        if isinstance(found, Exception):
            raise found
        return found

    def blocks(self) -> Iterator[bytes]:
        """The body. The time in which the caller uses a block does not count."""
        waited, count = 0.0, 0
        while True:
            begun = time.monotonic()
            block = self.next(PATIENCE - waited)
            if not isinstance(block, bytes) or not block:
                return
            waited, count = waited + time.monotonic() - begun, count + len(block)
            if count >= BLOCK:
                waited, count = 0.0, 0
            yield block

    def stop(self) -> None:
        self._stopped.set()
        with suppress(Empty):  # a thread that waits for room goes on, and ends
            while True:
                self._received.get_nowait()

    def _receive(self, method: str, url: str, headers: Mapping[str, str]) -> None:
        try:
            asked = {**_PLAIN, **headers}
            with requests.request(method, url, headers=asked, stream=True, timeout=(_CONNECT, PATIENCE)) as response:
                self._received.put(response)
                block = b"first"
                while block and not self._stopped.is_set():
                    # requests itself would wait until a block is full
                    block = response.raw.read1(BLOCK, decode_content=False)
                    self._received.put(block)
        except requests.exceptions.SSLError as error:
            self._received.put(AddressError(f"SSLError, no safe connection: {error}"))
        except (ValueError, requests.TooManyRedirects) as error:  # an address, or a header, that cannot be read
            self._received.put(AddressError(f"no valid answer: {error}"))
        except (requests.RequestException, urllib3.exceptions.HTTPError, HTTPException, OSError) as error:
            self._received.put(DroppedError(str(error)))
        except Exception as error:
            self._received.put(error)


def check_answer(response: requests.Response, file: str) -> None:
    """Raises `AddressError` for an answer that cannot have the bytes of `file` (a name), as its header shows."""
    addresses = [one.url for one in (*response.history, response)]
    unsafe = [address for address in addresses if not address.startswith("https:")]
    if addresses[0].startswith("https:") and unsafe:
        raise AddressError(f"leads from https to {unsafe[0]}, where anyone on the way could change the file")
    if response.status_code not in (200, 206):
        raise AddressError(f"HTTP {response.status_code}")
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    # some servers say so of the file itself
    itself = encoding in ("gzip", "x-gzip") and file.lower().endswith((".gz", ".tgz"))
    if encoding not in ("", "identity") and not itself:
        raise AddressError(f"sends the file in another encoding ({encoding}), though asked for its bytes as they are")
    if response.headers.get("Content-Type", "").lower().startswith(("text/html", "application/xhtml")):
        refuse_page(file, b"<html")


def refuse_page(file: str, start: bytes) -> None:
    """Raises `AddressError` if bytes start a page (HTML), as of a login or an error, and `file` is none by its name."""
    if _PAGE.match(start) and not file.lower().endswith((".html", ".htm", ".xhtml")):
        raise AddressError("gives a page (HTML) instead of the file, such as one to log in")


def extent(response: requests.Response) -> Extent:
    """The part of the file that an answer has. Raises `AddressError` for headers that contradict themselves."""
    length = _length(response)
    if response.status_code == 200:
        return Extent(0, length, length)
    stated = re.fullmatch(
        rf"bytes (?:({_NUMBER})-({_NUMBER})|\*)/({_NUMBER}|\*)", response.headers.get("Content-Range", ""), re.ASCII
    )
    if stated is None:
        raise AddressError(f"does not say which part of the file it sends (HTTP {response.status_code})")
    total = None if stated[3] == "*" else int(stated[3])
    if stated[1] is None:
        return Extent(0, None, total)
    start, end = int(stated[1]), int(stated[2]) + 1
    if start >= end or (total is not None and end > total) or length not in (None, end - start):
        raise AddressError(f"contradicts itself: {stated[0]}, and {length} bytes")
    return Extent(start, end, total)


def _length(response: requests.Response) -> int | None:
    stated = response.headers.get("Content-Length")
    if stated is not None and not re.fullmatch(_NUMBER, stated, re.ASCII):
        raise AddressError(f"states a size that is none: Content-Length: {stated[:40]}")
    return None if stated is None else int(stated)

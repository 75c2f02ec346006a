"""A server that gives each odd answer to whoever asks for its path.

An answer is a function: it gets an `Exchange`, the connection and what was asked, and sends what it likes.
"""

import gzip
import random
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

CONTENT = random.Random(0).randbytes(200_000)
HALF = 100_000
PAGE = b"<!DOCTYPE html>\n<html><body><form>Please log in.</form></body></html>"
CERTIFICATE = "certificate.pem"
PAUSE = 0.5
"""Seconds between two bytes of an answer that drips."""

LONG = 60.0
"""Seconds of silence that stand for ever."""

FLOOD = 5.0
"""Seconds of bytes that stand for ever."""


@dataclass
class Exchange:
    """A connection on which something was asked for."""

    connection: socket.socket
    start: int  # the first byte that is asked for
    count: int  # how often the path was asked for, this time included
    plain: str  # the address of the server without TLS
    safe: str  # with TLS

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.connection.sendall(part)

    def drip(self, data: bytes) -> None:
        for number in range(len(data)):
            self.send(data[number : number + 1])
            time.sleep(PAUSE)

    def endless(self, data: bytes) -> None:
        end = time.monotonic() + FLOOD
        while time.monotonic() < end:
            self.send(data)

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def head(*lines: str, state: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {state}", "Connection: close", *lines, "", ""]).encode()


def length(body: bytes) -> str:
    return f"Content-Length: {len(body)}"


def whole(*lines: str, body: bytes = CONTENT, state: str = "200 OK") -> bytes:
    return head(*lines, length(body), state=state) + body


def chunk(data: bytes, size: str = "") -> bytes:
    return (size or f"{len(data):x}").encode() + b"\r\n" + data + b"\r\n"


def part(*lines: str, start: int, end: int = len(CONTENT), total: object = len(CONTENT), body: bytes = b"") -> bytes:
    stated = f"Content-Range: bytes {start}-{end - 1}/{total}"
    return whole(stated, *lines, body=body or CONTENT[start:end], state="206 Partial Content")


CHUNKED, ETAG = "Transfer-Encoding: chunked", 'ETag: "one"'
SEVERAL = chunk(CONTENT[:HALF]) + chunk(CONTENT[HALF:])
DROPPED = head(length(CONTENT), ETAG) + CONTENT[:HALF]
Answer = Callable[[Exchange], None]


def sends(*parts: bytes) -> Answer:
    return lambda to: to.send(*parts)


def drips(first: bytes, slow: bytes) -> Answer:
    def answer(to: Exchange) -> None:
        to.send(first)
        to.drip(slow)

    return answer


def endless(first: bytes, again: bytes) -> Answer:
    def answer(to: Exchange) -> None:
        to.send(first)
        to.endless(again)

    return answer


def then_resets(data: bytes) -> Answer:
    def answer(to: Exchange) -> None:
        to.send(data)
        time.sleep(0.05)
        to.reset()

    return answer


def leads(target: str, state: str = "302 Found") -> Answer:
    return lambda to: to.send(
        head(f"Location: {target.format(plain=to.plain, safe=to.safe)}", length(b""), state=state)
    )


def resumed(rest: Answer) -> Answer:
    """Drops the connection after half of the file, answers in its way if asked for the rest, and later is good."""
    return lambda to: rest(to) if to.start else to.send(DROPPED if to.count == 1 else whole())


def at_first(first: bytes, times: int, later: bytes) -> Answer:
    return lambda to: to.send(first if to.count <= times else later)


def silent(data: bytes) -> Answer:
    def answer(to: Exchange) -> None:
        to.send(data)
        time.sleep(LONG)

    return answer


def little_by_little(to: Exchange) -> None:
    end = min(to.start + 50_000, len(CONTENT))
    to.send(part(ETAG, start=to.start, end=end))


def encoded(encoding: str, body: bytes) -> Answer:
    return sends(whole(f"Content-Encoding: {encoding}", body=body))


def refuses(state: str, *lines: str, body: bytes = b"") -> Answer:
    return sends(whole(*lines, body=body, state=state))


GOOD: dict[str, Answer] = {
    "whole": sends(whole()),
    "whole, in chunks": sends(head(CHUNKED), SEVERAL, chunk(b"")),
    "whole, called identity": encoded("identity", CONTENT),
    "busy twice": at_first(whole(body=b"", state="503 Busy"), 2, whole()),
    "too many requests once": at_first(whole(body=b"", state="429 Slow down"), 1, whole()),
    "two redirections": leads("{plain}/one redirection"),
    "one redirection": leads("{plain}/whole", "307 Temporary"),
    "from http to https": leads("{safe}/whole"),
    "dropped, and the rest": resumed(lambda to: to.send(part(ETAG, start=to.start))),
    "dropped, and whole": resumed(sends(whole(ETAG))),
    "small parts": little_by_little,
    "dropped, and whole chunks": at_first(head(CHUNKED) + chunk(CONTENT[:HALF]), 2, whole()),
    "dropped, and a rest of another start": resumed(lambda to: to.send(part(ETAG, start=to.start + 1))),
    "dropped, and a rest of no stated start": resumed(sends(whole(body=CONTENT[HALF:], state="206 Partial"))),
    "dropped, and a rest of another version": resumed(
        lambda to: to.send(part('ETag: "two"', start=to.start, body=b"x" * (len(CONTENT) - to.start)))
    ),
    "dropped, and a rest of another size": resumed(
        lambda to: to.send(part(ETAG, start=to.start, end=300_000, total=300_000, body=b"x" * (300_000 - to.start)))
    ),
    "dropped, and a rest beyond the end": resumed(lambda to: to.send(part(ETAG, start=to.start, end=300_000))),
    "dropped, and parts of several": resumed(
        lambda to: to.send(
            whole("Content-Type: multipart/byteranges; boundary=x", body=b"--x\r\n", state="206 Partial")
        )
    ),
    "dropped, and 416 with a page of that size": resumed(
        lambda to: to.send(whole(body=b"x" * to.start, state="416 Range"))
    ),
    "dropped, and 416 of another size": resumed(sends(whole("Content-Range: bytes */9", body=b"", state="416 Range"))),
    "reset once": lambda to: then_resets(DROPPED)(to) if to.count == 1 else to.send(whole()),
}
"""Answers from which the file is had: at once, by another attempt, or from the beginning after a wrong rest."""

UNENDED: dict[str, Answer] = {
    "whole, of no stated size": sends(head(), CONTENT),
}
"""The file, but no size: it is had where a size or a checksum is known."""

BAD: dict[str, Answer] = {
    "cut off, of no stated size": sends(head(), CONTENT[:HALF]),
    "length of nothing": sends(head("Content-Length:"), CONTENT),
    "length abc": sends(head("Content-Length: abc"), CONTENT),
    "length negative": sends(head("Content-Length: -5"), CONTENT),
    "length +200000": sends(head("Content-Length: +200000"), CONTENT),
    "length of 9,999 digits": sends(head("Content-Length: " + "9" * 9_999), CONTENT),
    "length in other digits": sends(head().replace(b"close", "close\r\nContent-Length: ٢٠".encode()), CONTENT),
    "two lengths": sends(head(length(CONTENT), "Content-Length: 7"), CONTENT),
    "the same length twice": sends(head(length(CONTENT), length(CONTENT)), CONTENT),
    "length and chunks that differ": sends(head("Content-Length: 7", CHUNKED), SEVERAL, chunk(b"")),
    "always cut off": sends(head(length(CONTENT)), CONTENT[:HALF]),
    "always reset": then_resets(DROPPED),
    "closed at once": lambda to: None,
    "reset at once": lambda to: to.reset(),
    "empty": sends(whole(body=b"")),
    "empty, in chunks": sends(head(CHUNKED), chunk(b"")),
    "gzip in transfer": encoded("gzip", gzip.compress(CONTENT)),
    "x-gzip in transfer": encoded("x-gzip", gzip.compress(CONTENT)),
    "deflate in transfer": encoded("deflate", zlib.compress(CONTENT)),
    "an unknown encoding": encoded("br", CONTENT),
    "several encodings": encoded("gzip, gzip", gzip.compress(gzip.compress(CONTENT))),
    "a bomb in transfer": encoded("gzip", gzip.compress(bytes(50_000_000))),
    "drips its body": drips(head(length(CONTENT)), CONTENT),
    "drips after half": drips(head(length(CONTENT)) + CONTENT[:HALF], CONTENT[HALF:]),
    "drips its first line": drips(b"", b"HTTP/1.1 " * 1000),
    "drips a header": drips(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 1000),
    "drips the size of a chunk": drips(head(CHUNKED), b"0" * 1000),
    "drips after the chunks": drips(head(CHUNKED) + SEVERAL + b"0\r\n", b"X: y\r\n" * 1000),
    "drips with no size": drips(head(), CONTENT),
    "says nothing": silent(b""),
    "says nothing after its header": silent(head(length(CONTENT))),
    "for ever 100 Continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "headers for ever": endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000),
    "chunks for ever": endless(head(CHUNKED), chunk(CONTENT)),
    "bytes for ever": endless(head(), CONTENT),
    "a first line for ever": endless(b"", b"HTTP" * 1000),
    "206 of nothing": sends(whole(state="206 Partial Content")),
    "206 from 5": sends(part(start=5)),
    "206 of a part": sends(part(start=0, end=HALF, total="*")),
    "206 of nonsense": sends(whole("Content-Range: bytes x-y/z", state="206 Partial Content")),
    "206 backwards": sends(whole("Content-Range: bytes 9-0/10", state="206 Partial Content")),
    "206 of another unit": sends(whole("Content-Range: lines 0-199999/200000", state="206 Partial Content")),
    "206 of other bytes": sends(part(start=0, body=CONTENT[:7])),
    "always 416": refuses("416 Range"),
    "a page to log in": sends(whole("Content-Type: text/html; charset=utf-8", body=PAGE)),
    "a page called bytes": sends(whole("Content-Type: application/octet-stream", body=PAGE)),
    "a page in chunks": sends(head(CHUNKED), chunk(PAGE), chunk(b"")),
    "a page after a mark and lines": sends(whole(body=b"\xef\xbb\xbf\n\n" + PAGE.lower())),
    "a page after a comment": sends(whole(body=b"<!-- hello -->\n<HTML lang=en>" + PAGE)),
    "a page in XML": sends(whole(body=b'<?xml version="1.0"?>\n' + PAGE)),
    "a page of plain words": sends(whole("Content-Type: text/html", body=b"Please log in.")),
    "a page, by a redirection": leads("{plain}/a page to log in"),
    "a page of 503, always": refuses("503 Busy", "Content-Type: text/html", body=PAGE),
    "401": refuses("401 Unauthorized", "WWW-Authenticate: Basic realm=x"),
    "403": refuses("403 Forbidden", body=PAGE),
    "404": refuses("404 Not Found"),
    "410": refuses("410 Gone"),
    "202": refuses("202 Accepted", body=CONTENT),
    "204": sends(head(state="204 No Content")),
    "300": refuses("300 Choose", body=CONTENT),
    "304": sends(head(state="304 Not Modified")),
    "a state of no meaning": refuses("799 Odd", body=CONTENT),
    "302 to nowhere": refuses("302 Found"),
    "302 in a circle": leads("{plain}/302 in a circle"),
    "302 to ftp": leads("ftp://127.0.0.1/file"),
    "302 to a file": leads("file:///etc/passwd"),
    "302 to no address": leads("http://[::1"),
    "302 to a long name": leads("http://" + "a" * 300 + ".invalid/"),
    "302 to a closed port": leads("http://127.0.0.1:1/"),
    "from https to http": leads("{plain}/whole"),
    "from https to http to https": leads("{plain}/from http to https"),
    "a greeting of SSH": sends(b"SSH-2.0-OpenSSH_9.6\r\n" + CONTENT),
    "bytes without a header": sends(CONTENT),
    "a first line of nonsense": sends(b"HTTP/1.1 abc\r\n\r\n" + CONTENT),
    "a header of 1 MB": sends(head("X: " + "x" * 1_000_000), CONTENT),
    "10,000 headers": sends(head(*["X: y"] * 10_000), CONTENT),
    "a chunk of size xyz": sends(head(CHUNKED), chunk(CONTENT, "xyz")),
    "a chunk of negative size": sends(head(CHUNKED), chunk(CONTENT, "-5"), chunk(b"")),
    "a chunk of 2^64 bytes": sends(head(CHUNKED), chunk(CONTENT, "f" * 16), chunk(b"")),
    "a chunk that is cut off": sends(head(CHUNKED), chunk(CONTENT)[:HALF]),
    "no last chunk": sends(head(CHUNKED), chunk(CONTENT[:HALF])),
    "a chunk longer than it says": sends(head(CHUNKED), chunk(CONTENT, "ff"), chunk(b"")),
}
"""Answers from which the file cannot be had, so it comes from the next address."""

LIES: dict[str, Answer] = {
    "other bytes": sends(whole(body=CONTENT[::-1])),
    "a shorter file": sends(whole(body=CONTENT[:HALF])),
    "a longer file": sends(whole(body=CONTENT + b"more")),
    "more bytes than it says": sends(head(f"Content-Length: {HALF}"), CONTENT),
    "more in chunks": sends(head(CHUNKED), SEVERAL, chunk(b"more"), chunk(b"")),
    "an error in JSON": sends(whole("Content-Type: application/json", body=b'{"error": "log in"}')),
}
"""Answers that are whole files, but others: only a size or a checksum shows it."""


def spoilt(seed: int) -> Answer:
    """One of the good answers to a first question, with random damage to its header or in its framing."""
    draw = random.Random(seed)
    data = bytearray(draw.choice([whole(ETAG), head(CHUNKED) + SEVERAL + chunk(b""), part(start=0)]))
    header = data.index(b"\r\n\r\n") + 4
    for _ in range(draw.randint(1, 2)):
        place = draw.randrange(min(header, len(data)) if draw.random() < 0.8 else len(data))
        kind = draw.randrange(4)
        if kind == 0:
            data[place] = draw.randrange(256)
        elif kind == 1:
            del data[place : place + draw.randint(1, 30)]
        elif kind == 2:
            data[place:place] = draw.randbytes(draw.randint(1, 30))
        else:
            del data[max(place, header) :]
    return sends(bytes(data))


@contextmanager
def serving(answers: Mapping[str, Answer], folder: Path) -> Iterator[tuple[str, str]]:
    """Two servers with these answers by path; yields the address of the plain one, and of the one with TLS.

    What follows the last / of a path tells those who ask apart. `folder` gets the certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_certify(folder))
    count = Counter[str]()
    with socket.create_server(("127.0.0.1", 0), backlog=500) as plain, socket.create_server(("127.0.0.1", 0)) as safe:
        places = (f"http://127.0.0.1:{plain.getsockname()[1]}", f"https://127.0.0.1:{safe.getsockname()[1]}")

        def converse(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += connection.recv(1 << 16) or b"\r\n\r\n"
                path = unquote(asked.split(b" ")[1].decode()).removeprefix("/")
                start = re.search(rb"(?i)\r\nrange: bytes=(\d+)-", asked)
                count[path] += 1
                answer = answers[path if path in answers else path.rpartition("/")[0]]
                answer(Exchange(connection, int(start[1]) if start else 0, count[path], *places))

        def secured(connection: socket.socket) -> None:
            with suppress(OSError):
                converse(context.wrap_socket(connection, server_side=True))

        for server, speak in ((plain, converse), (safe, secured)):
            threading.Thread(target=_accept, args=(server, speak), daemon=True).start()
        yield places


def _accept(server: socket.socket, speak: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):  # closed at the end
        while True:
            threading.Thread(target=speak, args=(server.accept()[0],), daemon=True).start()


def _certify(folder: Path) -> tuple[Path, Path]:
    """Writes a certificate of 127.0.0.1, and its key; only who is told trusts it."""
    certificate, key = folder / CERTIFICATE, folder / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key

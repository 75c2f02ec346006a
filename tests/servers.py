"""Servers on this machine that serve one file and misbehave on purpose."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 1000


@dataclass
class Server:
    """A server that misbehaves on purpose; each list is used up, one item for each request.

    `head` is the state of the answer to HEAD, where that is refused.
    """

    address: str = ""
    content: bytes = CONTENT
    etag: str | None = '"one"'
    ranges: bool = True
    states: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # of the answers with these states
    head: int | None = None
    drop_after: list[int] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)

    def source(self, **known: object) -> dict[str, object]:
        nothing = dict.fromkeys(("manual", "size", "sha256", "md5", "sha1"))
        return {**nothing, "url": self.address, **known}


class Handler(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        told: Server = self.server.told  # type: ignore[attr-defined]
        asked = self.headers["Range"]
        told.asked.append(asked)
        if self.command == "HEAD" and told.head:
            self.send_response(told.head)
            self.end_headers()
            return
        if told.states:
            self.send_response(told.states.pop(0))
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked and told.ranges else 0
        if self.headers["If-Range"] not in (None, told.etag):
            start = 0
        if start and start >= len(told.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(told.content)}")
            self.end_headers()
            return
        rest = told.content[start:]
        ranged = bool(asked and told.ranges and (start or not asked.endswith("-")))
        self.send_response(206 if ranged else 200)
        self.send_header("Content-Length", str(len(rest)))
        if ranged:
            self.send_header("Content-Range", f"bytes {start}-{len(told.content) - 1}/{len(told.content)}")
        if told.etag:
            self.send_header("ETag", told.etag)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(rest[: told.drop_after.pop(0)] if told.drop_after else rest)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    """A server that runs, at `address`."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.told = Server(address=f"http://127.0.0.1:{http.server_port}/file")  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield http.told  # type: ignore[attr-defined]
    finally:
        http.shutdown()
        http.server_close()
        thread.join()

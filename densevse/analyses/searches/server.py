"""The page of `densevse search --serve`: an HTTP server for one person, on this machine alone.

Any program and any web page on this machine can send it requests. So its address has a secret (the token), the header
Host must name this machine, as a web page could give another name its address (DNS rebinding), and no page of another
origin is answered. It sends the files of this page and the pictures of searched images, by their rows; no path comes
from outside.
"""

import hmac
import json
import logging
import secrets
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import pandas as pd
from werkzeug.exceptions import Forbidden, HTTPException, NotFound
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, make_server
from werkzeug.wrappers import Request, Response

from densevse.analyses.searches.dag import Served
from densevse.analyses.searches.serving import LONGEST, Searcher
from snakeproof.errors import InputError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

ADDRESS = "127.0.0.1"
LARGEST_FILE = 2**25
"""Bytes of a photograph that asks."""
_FILES = Path(__file__).parent / "page"
_ROUTES = Map(
    [
        Rule("/", endpoint="page", methods=["GET"]),
        Rule("/<any('page.css', 'page.js'):name>", endpoint="file", methods=["GET"]),
        Rule("/answers", endpoint="sentence", methods=["GET"]),
        Rule("/answers", endpoint="photograph", methods=["POST"]),
        Rule("/photographs/<int:row>", endpoint="picture", methods=["GET"]),
    ],
    merge_slashes=False,
)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # an address of this page contains the token
    "X-Content-Type-Options": "nosniff",
}


def serve(served: Served, top: int, port: int) -> None:
    """Prints the page's address and answers until Ctrl-C; port 0 is a free one. Raises `InputError` for a used one."""
    with ThreadPoolExecutor(1) as asking:  # all computation is in this thread: see `Searcher`
        searcher = asking.submit(Searcher, served, top).result()
        site = Site(searcher, served.title, asking)
        server = open_server(site, port)
        print(f"{served.title}: {site.address}\nCtrl-C ends it.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
        finally:
            server.server_close()


def open_server(site: "Site", port: int) -> BaseWSGIServer:
    """A server that listens for a site, which then knows its port. Raises `InputError` if the port cannot be used."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would print each request, with the token
    try:
        with socket.create_server((ADDRESS, port)) as listening:
            server = make_server(ADDRESS, port, site, threaded=True, fd=listening.fileno())
    except (OSError, OverflowError) as error:
        raise InputError(f"--port: {port} cannot be used ({error}); name another, or leave the option out.") from None
    site.port = server.port
    return server


class Site:
    """The page and its answers, as a WSGI application. Its address contains a new secret."""

    port = 0

    def __init__(self, searcher: Searcher, title: str, asking: ThreadPoolExecutor) -> None:
        """`asking` has the thread that made the searcher."""
        self._searcher, self._title, self._asking = searcher, title, asking
        self._token = secrets.token_urlsafe(16)
        self._answers: dict[str, Callable[..., Response]] = {
            "page": self._page,
            "file": self._file,
            "sentence": self._sentence,
            "photograph": self._photograph,
            "picture": self._picture,
        }

    @property
    def address(self) -> str:
        """The page's address, with the token."""
        return f"http://{ADDRESS}:{self.port}/{self._token}/"

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answers a request, or says in JSON why not."""
        request = Request(environ)
        request.max_content_length = LARGEST_FILE
        try:
            endpoint, values = _ROUTES.bind(ADDRESS).match(self._check_request(request), request.method)
            response = self._answers[endpoint](request, **values)
        except InputError as error:
            response = _json_response({"error": str(error)}, 400)
        except HTTPException as error:
            response = _json_response({"error": error.description}, error.code or 500)
        response.headers.update(_HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        return response(environ, start_response)

    def _check_request(self, request: Request) -> str:
        """The path behind the token. Raises `Forbidden` for another token, host or origin."""
        hosts = [f"{name}:{self.port}" for name in (ADDRESS, "localhost")]
        if request.headers.get("Host") not in hosts:
            raise Forbidden(f"Open the page at {ADDRESS} or localhost, as the command printed it.")
        if request.headers.get("Origin", f"http://{hosts[0]}") not in [f"http://{host}" for host in hosts]:
            raise Forbidden("Only this page may ask.")
        token, slash, path = request.path.removeprefix("/").partition("/")
        if not (hmac.compare_digest(token.encode(), self._token.encode()) and slash):
            raise Forbidden("The address is not the one that the command printed.")
        return f"/{path}"

    def _page(self, request: Request) -> Response:
        searcher = self._searcher
        page = Template((_FILES / "page.html").read_text(encoding="utf-8")).substitute(
            title=escape(self._title),
            longest=LONGEST,
            largest=LARGEST_FILE,
            disabled="" if searcher.photographs else "disabled",
            refusal=escape(searcher.refusal),
        )
        return Response(page, mimetype="text/html")

    def _file(self, request: Request, name: str) -> Response:
        mimetype = "text/css" if name.endswith(".css") else "text/javascript"
        return Response((_FILES / name).read_bytes(), mimetype=mimetype)

    def _sentence(self, request: Request) -> Response:
        found = self._asking.submit(self._searcher.ask, request.args.get("sentence", "")).result()
        shown = zip(found.rows["image_id"], found.images.tolist(), found.phrases, strict=True)
        answers = [{"image": image_id, "row": row, "phrases": phrases} for image_id, row, phrases in shown]
        return _json_response(
            {"answers": _add_ranks(found.rows, answers), "unknown": list(found.rows["unknown_words"].iloc[0])}
        )

    def _photograph(self, request: Request) -> Response:
        if self._searcher.photographs is None:
            raise InputError(self._searcher.refusal)
        rows = self._asking.submit(self._searcher.photographs.ask, request.get_data()).result()
        return _json_response({"answers": _add_ranks(rows, [{"text": text} for text in rows["text"]]), "unknown": []})

    def _picture(self, request: Request, row: int) -> Response:
        try:
            picture = self._searcher.picture(row)
        except IndexError:
            raise NotFound("No searched photograph has this row.") from None
        return Response(picture, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})


def _add_ranks(rows: pd.DataFrame, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers with the ranks and scores of their FOUND rows."""
    both = zip(answers, rows["rank"].tolist(), rows["score"].tolist(), strict=True)
    return [{**answer, "rank": rank, "score": score} for answer, rank, score in both]


def _json_response(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value), status, mimetype="application/json")

"""A stand-in of the Hugging Face Hub on this machine: the Hub's own library talks to it over the Hub's protocol.

It stores large files by LFS, not by Xet, and knows one owner's token.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import constants

TOKEN = "hf_" + "a" * 34
LARGE = (".safetensors", ".parquet")


@dataclass
class Repository:
    """The newest files of a repository, under the name of its newest commit."""

    files: dict[str, bytes] = field(default_factory=dict)
    visibility: str = "public"
    fixed: str | None = None

    @property
    def commit(self) -> str:
        contents = [(name, hashlib.sha1(content).hexdigest()) for name, content in sorted(self.files.items())]
        return self.fixed or hashlib.sha1(json.dumps(contents).encode()).hexdigest()

    def has(self, revision: str) -> bool:
        return revision in ("main", self.commit)


@dataclass
class Hub:
    """Holds the stand-in's repositories and files. A data set's repository is named datasets/owner/name."""

    address: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    busy: list[dict[str, str]] = field(default_factory=list)  # headers of answers 429, used up one for each request


class _Handler(BaseHTTPRequestHandler):
    @property
    def hub(self) -> Hub:
        return self.server.hub  # type: ignore[attr-defined,no-any-return]

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self._routed(
            (r"/api/models/(\w[\w.-]*/[\w.-]+)/revision/(.+)", self._described),
            (r"/api/models/(\w[\w.-]*/[\w.-]+)/tree/([^?]+).*", self._tree),
            (r"/((?:datasets/)?[\w.-]+/[\w.-]+)/resolve/([^/]+)/(.+)", self._file),
        )

    def do_POST(self) -> None:
        self._routed(
            (r"/api/validate-yaml", self._checked_head),
            (r"/api/repos/create", self._created),
            (r"/api/models/(.+)/preupload/main", self._modes),
            (r"/(.+)\.git/info/lfs/objects/batch", self._batch),
            (r"/api/models/(.+)/commit/main", self._commit),
        )

    def do_PUT(self) -> None:
        content = self._body()
        oid = self.path.rpartition("/")[2]
        if hashlib.sha256(content).hexdigest() != oid:
            self._answer(400)
            return
        self.hub.large[oid] = content
        self._answer(200)

    def _routed(self, *routes: tuple[str, Any]) -> None:
        self.hub.asked.append(f"{self.command} {self.path}")
        if self.hub.busy:
            self._answer(429, headers=self.hub.busy.pop(0))
            return
        for pattern, answer in routes:
            if found := re.fullmatch(pattern, self.path):
                answer(*found.groups())
                return
        self._answer(404)

    def _described(self, name: str, revision: str) -> None:
        repository = self._repository(name, revision)
        if repository:
            siblings = [{"rfilename": file} for file in repository.files]
            self._answer(200, {"id": name, "sha": repository.commit, "siblings": siblings})

    def _tree(self, name: str, revision: str) -> None:
        repository = self._repository(name, revision)
        if repository:
            self._answer(
                200,
                [
                    {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                    for path, content in repository.files.items()
                ],
            )

    def _file(self, name: str, revision: str, path: str) -> None:
        repository = self._repository(name, revision)
        if repository is None:
            return
        if path not in repository.files:
            self._answer(404, headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": repository.commit})
            return
        content = repository.files[path]
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        self._answer(200, content, {"X-Repo-Commit": repository.commit, "ETag": etag})

    def _repository(self, name: str, revision: str) -> Repository | None:
        """The repository, or None after an answer that says that it is not there or may not be read."""
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.visibility == "private" and not self._known()):
            self._answer(404 if self._known() else 401, headers={"X-Error-Code": "RepoNotFound"})
            return None
        if not repository.has(revision):
            self._answer(404, headers={"X-Error-Code": "RevisionNotFound"})
            return None
        return repository

    def _known(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {TOKEN}"

    def _checked_head(self) -> None:
        """The Hub's check of a card: its head is YAML, and its model-index has the Hub's form."""
        head = yaml.safe_load(json.loads(self._body())["content"].split("---\n")[1])
        metrics = [one for model in head["model-index"] for result in model["results"] for one in result["metrics"]]
        right = bool(metrics) and all(isinstance(one["value"], float) and one["type"] for one in metrics)
        self._answer(200 if right else 400, {"errors": [] if right else [{"message": "model-index"}], "warnings": []})

    def _created(self) -> None:
        asked = json.loads(self._body())
        name = f"{asked['organization']}/{asked['name']}"
        if not self._known():
            self._answer(401, {"error": "Invalid username or password."})
        elif name in self.hub.repositories:
            self._answer(409, {"error": "You already created this model repo", "url": f"{self.hub.address}/{name}"})
        else:
            self.hub.repositories[name] = Repository(visibility=asked["visibility"])
            self._answer(200, {"url": f"{self.hub.address}/{name}"})

    def _modes(self, _: str) -> None:
        files = [
            {"path": one["path"], "uploadMode": _mode(one["path"]), "shouldIgnore": False}
            for one in json.loads(self._body())["files"]
        ]
        self._answer(200, {"files": files})

    def _batch(self, _: str) -> None:
        objects = [
            {**one, "actions": {"upload": {"href": f"{self.hub.address}/large/{one['oid']}"}}}
            for one in json.loads(self._body())["objects"]
        ]
        self._answer(200, {"transfer": "basic", "objects": objects})

    def _commit(self, name: str) -> None:
        repository = self.hub.repositories[name]
        for line in map(json.loads, self._body().splitlines()):
            value = line["value"]
            if line["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            if line["key"] == "lfsFile":
                repository.files[value["path"]] = self.hub.large[value["oid"]]
        address = f"{self.hub.address}/{name}/commit/{repository.commit}"
        self._answer(200, {"commitUrl": address, "commitOid": repository.commit, "success": True})

    def _body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, status: int, content: Any = b"", headers: dict[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        kind = "application/octet-stream" if isinstance(content, bytes) else "application/json"
        self.send_response(status)
        for key, value in {**(headers or {}), "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def _mode(path: str) -> str:
    return "lfs" if path.endswith(LARGE) else "regular"


@contextmanager
def hub_at(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Hub]:
    """The stand-in, to which the Hub's library talks in this process; what that obtains is kept in `cache`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    hub = server.hub = Hub(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

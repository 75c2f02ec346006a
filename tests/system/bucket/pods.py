"""A pretended Kubernetes: the part of its interface that the executor plugin asks, and pods that are processes here."""

import base64
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.system.bucket.places import put_python

CONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "ADDRESS"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {}}]
"""
PIP = """#!/bin/sh
# The image holds what a pod would install.
"""


class Cluster:
    """A cluster whose pods run below `folder`, each in an empty one of its own."""

    def __init__(self, folder: Path) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}  # name -> what the plugin asked for
        self._folder, self._secrets, self._pods = folder, {}, {}
        put_python(folder / "bin")
        (folder / "bin/pip").write_text(PIP)
        (folder / "bin/pip").chmod(0o755)
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                content = json.dumps(cluster.asked(self.command, self.path.partition("?")[0], body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self) -> None:
                self.answer()

            def do_POST(self) -> None:
                self.answer()

            def do_DELETE(self) -> None:
                self.answer()

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.config = folder / "config.yaml"
        self.config.write_text(CONFIG.replace("ADDRESS", f"http://127.0.0.1:{self._server.server_port}"))

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        kind, name = path.removesuffix("/status").split("/")[-2:]
        if method == "POST" and path.endswith("/secrets"):
            self._secrets[body["metadata"]["name"]] = body["data"]
        if method == "POST" and path.endswith("/jobs"):
            self._start(body)
        if method == "GET" and kind == "jobs":
            status = self._pods[name].poll()
            return {"status": {} if status is None else {"failed": 1} if status else {"succeeded": 1}}
        return {**body, "items": []} if path.endswith("/pods") else body

    def _start(self, job: dict[str, Any]) -> None:
        name, container = job["metadata"]["name"], job["spec"]["template"]["spec"]["containers"][0]
        self.jobs[name] = container
        place = self._folder / name
        place.mkdir()
        environment = {"PATH": f"{self._folder}/bin:{os.environ['PATH']}", "HOME": str(place)}
        for entry in container["env"]:
            secret = entry["valueFrom"]["secretKeyRef"]
            value = self._secrets[secret["name"]][secret["key"]]
            environment[entry["name"]] = base64.b64decode(value).decode()
        with (place / "pod.log").open("w") as log:
            command = [*container["command"], *container["args"]]
            self._pods[name] = subprocess.Popen(
                command, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )

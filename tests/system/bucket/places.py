"""Buckets of a test's own, and a project whose results lie in one."""

import logging
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from snakeproof.seals import verify_file
from snakeproof.statements import read_statement
from tests.projects import Project, job_counts

SECRET = "none"
BUCKET = "results-of-tests"
SUBMIT = """#!/bin/sh
# A job in an empty folder of its own, which holds the code and nothing else; the folder is the job's name.
folder=$(mktemp -d -p '{jobs}')
for name in {code}; do cp -r "$name" "$folder"; done
(cd "$folder" && sh "$1"; echo $? > exit_status) > "$folder/job.log" 2>&1 < /dev/null &
echo "$folder"
"""
STATUS = """#!/bin/sh
[ -f "$1/exit_status" ] || { echo running; exit; }
[ "$(cat "$1/exit_status")" = 0 ] && echo success || echo failed
"""


@dataclass
class BucketProject(Project):
    """The workflow in a folder of its own, whose results lie in a bucket: without one, on its disk as always."""

    storage: list[str] = field(default_factory=list)

    def command(self) -> list[str]:
        return [*super().command(), *self.storage]

    def planned(self, *targets: str) -> dict[str, int]:
        return job_counts(self.run("--dry-run", *targets).stdout)

    def start(self, *targets: str) -> subprocess.Popen:
        """Begin a run in a group of processes of its own."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        log = (self.folder / "run.log").open("w")
        return subprocess.Popen(
            [*self.command(), "--", *targets],
            cwd=self.folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def put_python(folder: Path) -> None:
    """Let `python` be this one in a new folder, which a PATH may name."""
    folder.mkdir(parents=True)
    (folder / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "python").chmod(0o755)


def results(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of all results but histories, which hold seconds, logs and records."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "history.parquet")
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in named.items() if not name.startswith(("logs/", "."))}


def differing(expected: dict[str, bytes], found: Mapping[str, bytes]) -> list[str]:
    """The names of files that differ; an artifact in a bucket also carries the statements of its ancestors."""
    return [name for name, content in expected.items() if _meant(name, found[name]) != _meant(name, content)]


def _meant(name: str, content: bytes) -> Any:
    """A file's bytes; of an artifact its digest and statement, without what it carries."""
    if not name.endswith((".parquet", ".safetensors")):
        return content
    with NamedTemporaryFile(suffix=Path(name).suffix) as file:
        file.write(content)
        file.flush()
        return verify_file(file.name), read_statement(file.name).own_values


def kill(run: subprocess.Popen) -> None:
    """End a run and all its jobs at once, as a power cut does."""
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def in_folder(bucket: Path) -> list[str]:
    """The options for results in a folder, by the plugin `fs`."""
    return ["--default-storage-provider=fs", f"--default-storage-prefix={bucket}", "--shared-fs-usage=none"]


def on_server(*more: str) -> list[str]:
    """The options for results in a bucket of an S3 server."""
    return [
        "--default-storage-provider=s3",
        f"--default-storage-prefix=s3://{BUCKET}/here",
        "--shared-fs-usage=none",
        *more,
    ]


def in_empty_folders(folder: Path, code: Iterable[str]) -> list[str]:
    """The options for jobs in folders of their own below `folder`, which hold the `code` and nothing else."""
    (folder / "jobs").mkdir(parents=True)
    put_python(folder / "bin")
    (folder / "submit.sh").write_text(SUBMIT.format(jobs=folder / "jobs", code=" ".join(code)))
    (folder / "status.sh").write_text(STATUS)
    return [
        "--executor=cluster-generic",
        "--jobs=2",
        f"--cluster-generic-submit-cmd=sh {folder}/submit.sh",
        f"--cluster-generic-status-cmd=sh {folder}/status.sh",
        "--seconds-between-status-checks=1",
        "--latency-wait=10",
    ]


class S3Server:
    """An S3 server on this machine, which keeps what it holds in memory while it is stopped."""

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app

        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._answer, self._port = DomainDispatcherApplication(create_backend_app), 0
        self.read: Counter[str] = Counter()  # object -> bytes
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        from werkzeug.serving import make_server

        self._server = make_server("127.0.0.1", self._port, self._count, threaded=True)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def objects(self) -> dict[str, bytes]:
        """Name below the bucket's folder -> bytes, of every object."""
        from moto.s3.models import s3_backends

        (backend,) = (found["global"] for found in s3_backends.values() if BUCKET in found["global"].buckets)
        keys = backend.buckets[BUCKET].keys
        return {name.removeprefix("here/"): key.value for name, key in keys.items()}

    def _count(self, environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            length = {name.lower(): value for name, value in headers}.get("content-length", 0)
            if environ["REQUEST_METHOD"] == "GET" and status.startswith("2"):
                self.read[environ["PATH_INFO"].removeprefix(f"/{BUCKET}/here/")] += int(length)
            return start_response(status, headers, *more)

        return self._answer(environ, start)

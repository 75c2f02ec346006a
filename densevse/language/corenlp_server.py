"""Starts and stops a server of Stanford CoreNLP, and gives the clients that ask it."""

import os
import shlex
import shutil
import socket
from pathlib import Path

import requests
from stanza.server import CoreNLPClient, StartServer
from stanza.server.client import PermanentlyFailedException, ShouldRetryException

START_SECONDS = 600  # models are loaded; a busy machine needs many times the usual ten seconds
PING_SECONDS = 10


class Server(CoreNLPClient):  # type: ignore[misc]
    """A CoreNLP server's process."""

    CHECK_ALIVE_TIMEOUT = START_SECONDS

    def __init__(self, properties: Path, jars: Path, memory_mb: int, threads: int, timeout: float, log: Path) -> None:
        # A separate path, so that another job's server on the same port cannot answer for this one.
        port, path = _free_port(), f"/{properties.parent.name}"
        output = log.open("w")  # one file position, so that neither stream overwrites the other
        super().__init__(
            start_server=StartServer.FORCE_START,
            endpoint=f"http://localhost:{port}",
            properties=shlex.quote(str(properties)),  # stanza does not quote it
            classpath="*",
            memory=f"{memory_mb}m",
            threads=threads,
            timeout=int(timeout * 1000),
            max_char_length=10**9,
            preload=False,
            uriContext=path,
            stdout=output,
            stderr=output,
        )
        self.endpoint += path
        # stanza splits its command at apostrophes too, so the jars' folder is inserted afterwards.
        command = [f"{jars}/*" if part == "*" else part for part in self.start_cmd]
        # A tenth faster than Java's default collector, with a quarter less memory.
        self.start_cmd: list[str] = [command[0], "-XX:+UseParallelGC", *command[1:]]
        if shutil.which("setpriv"):  # Linux: the server ends with its job, even when that is killed
            self.start_cmd = ["setpriv", "--pdeathsig", "KILL", *self.start_cmd]
        _leave_localhost_to_itself()

    def client(self, seconds: float) -> CoreNLPClient:
        """A client of this server that never starts one, so that threads may share it; it waits `seconds`."""
        return CoreNLPClient(
            start_server=StartServer.DONT_START,
            endpoint=self.endpoint,
            output_format="json",
            timeout=seconds * 1000 / 2,  # stanza waits twice as long as it is told
        )

    def is_alive(self) -> bool:
        """True if the server answers. Unlike stanza's, it notices a server that dies or hangs while it starts."""
        if self.server.poll() is not None:
            raise PermanentlyFailedException(f"its process ended with exit status {self.server.returncode}")
        try:
            return requests.get(f"{self.endpoint}/ping", timeout=PING_SECONDS).ok
        except requests.RequestException as error:
            raise ShouldRetryException(error) from error

    def answers(self) -> bool:
        """True if the server's process is alive and answers now."""
        try:
            return self.server is not None and self.is_alive()
        except (PermanentlyFailedException, ShouldRetryException):
            return False

    def stop(self) -> None:
        """Ends the server at once, as it keeps nothing and a hanging one ignores polite requests."""
        if self.server is not None:
            self.server.kill()
            self.server.wait()
        self.is_active = False


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _leave_localhost_to_itself() -> None:
    """Excludes localhost from proxies, by both spellings of the variable, as programs read one or the other."""
    variables = ("no_proxy", "NO_PROXY")
    named = [host.strip() for variable in variables for host in os.environ.get(variable, "").split(",")]
    hosts = ",".join(dict.fromkeys([*filter(None, named), "localhost", "127.0.0.1"]))
    os.environ.update(dict.fromkeys(variables, hosts))

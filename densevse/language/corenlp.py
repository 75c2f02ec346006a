"""Parses captions with Stanford CoreNLP, which runs as a server and is asked through stanza's client.

A request is a batch of captions, one a line. A server that dies or hangs is restarted. Its batch is sent again, then in
halves, until the failing sentence is alone; that sentence is recorded with the reason.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import requests
from stanza.server import CoreNLPClient, StartServer
from stanza.server.client import AnnotationException, write_corenlp_props

from densevse.config.datasets import CoreNLP
from densevse.language.corenlp_jars import jars, require_java
from densevse.language.parses import Dependency, Parse, write_parses
from densevse.language.trees import read_tree
from densevse.language.typewritten import straighten_quotes
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.strict import validate

MOST_RESTARTS = 50
ONE_SENTENCE = {"ssplit.isOneSentence": "true", "ssplit.eolonly": "false"}
# Shows whether models load, and whether the server decodes %25 (which depends on CoreNLP's version).
PROBE = "100%25 sure"


def parse_by_corenlp(
    captions: str,
    home: str,
    options: Mapping[str, Any],
    wildcards: Mapping[str, Any],
    mem_mb: int,
    threads: int,
    output: str,
    images: str | None = None,
    original: bool = False,
) -> None:
    """The job that parses a shard's captions with CoreNLP; see `write_parses`.

    `home` is the folder of CoreNLP's jars. `options` are the parser's without the memory, which is that of the job, in
    MB. `original` asks for the dependencies of 2014; see `CoreNLPParser`. SIGTERM ends the job by `SystemExit`, so that
    the server ends too. Raises `InputError` as `CoreNLPParser` does, and if the memory is too little.
    """
    chosen, heap = validate(CoreNLP, options, "parsers: options"), heap_mb(mem_mb)
    with _exit_on_sigterm(), CoreNLPParser(chosen, home, heap, threads, original) as parser:
        write_parses(parser, images, captions, wildcards["shard"], output, jars=jars(home))


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Within this context, SIGTERM raises `SystemExit`, so that every `with` is left in order."""

    def end(*_: object) -> None:
        sys.exit("ended by SIGTERM")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def server_properties(options: CoreNLP) -> dict[str, str]:
    """The server's properties. The model is named, as a server takes the PCFG of its own accord (4.5.10)."""
    return {
        "annotators": ",".join(options.annotators),
        "parse.model": options.model,
        "parse.maxlen": str(options.longest),
        "parse.buildgraphs": "false",  # depparse makes the dependencies
        "ssplit.eolonly": "true",
        "timeout": str(int(options.timeout * 1000)),
        "outputFormat": "json",
    }


def original_properties(options: CoreNLP) -> dict[str, str]:
    """The same for the Stanford dependencies of 2014, which are made from the tree.

    CoreNLP's JSON has the basic ones in the place of the others, its protocol buffers have them all (4.5.10).
    """
    return {
        **server_properties(options),
        "annotators": ",".join(name for name in options.annotators if name != "depparse"),
        "parse.buildgraphs": "true",
        "parse.originalDependencies": "true",
        "outputFormat": "serialized",
    }


class CoreNLPParser:
    """A CoreNLP parser with its own server; a context manager that starts and stops the server.

    `home` is a folder of CoreNLP's jars. Raises `InputError` if Java, a jar or a model is missing.
    """

    def __init__(
        self, options: CoreNLP, home: str | Path, memory_mb: int, threads: int, original: bool = False
    ) -> None:
        """`memory_mb` is the server's heap; as many threads send requests as the server works with.

        With `original`, the basic and enhanced dependencies are the basic and collapsed ones of Stanford in 2014, with
        conjunctions propagated ("CCprocessed").
        """
        self.options, self.home, self.memory_mb, self.threads = options, Path(home), memory_mb, threads
        self._properties = (original_properties if original else server_properties)(options)
        self.restarts = 0
        self._failing = threading.Event()

    def __enter__(self) -> Self:
        require_java(self.memory_mb)
        if not jars(self.home):
            raise InputError(f"{self.home}: no stanford-corenlp-*.jar there; let CORENLP_HOME name CoreNLP's folder.")
        self._folder = tempfile.TemporaryDirectory(prefix="densevse-corenlp-")
        if ":" in self._folder.name:
            raise InputError(
                f"TMPDIR: Java takes no folder with a colon in its name ({self._folder.name}); set another."
            )
        # Java splits lists of folders at colons, which the user's names may contain.
        self._jars = Path(self._folder.name, "jars")
        self._jars.symlink_to(self.home.absolute(), target_is_directory=True)
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self._folder.cleanup()

    def parse(self, texts: list[str]) -> list[Parse]:
        """Parses each text as one sentence; a sentence that cannot be parsed has the reason in its status."""
        lines = [" ".join(straighten_quotes(text).split()) if _is_visible(text) else "" for text in texts]
        asked = list(dict.fromkeys(line for line in lines if line))
        size = self.options.batch
        batches = [asked[start : start + size] for start in range(0, len(asked), size)]
        answers = progress(self._answers(batches), "requests to CoreNLP", len(batches))
        parses = dict(zip(asked, (parse for answer in answers for parse in answer), strict=True))
        return [parses[line] if line else Parse.from_failure("no words") for line in lines]

    def _answers(self, batches: list[list[str]]) -> Iterator[list[Parse]]:
        """The answers to batches, in order. After a failure nothing is sent until the server works again."""
        pool = ThreadPoolExecutor(self.threads)
        try:
            while batches:
                self._failing.clear()
                futures = [pool.submit(self._send_unless_failing, batch) for batch in batches]
                answered = 0
                for answer in self._collect_answers(batches, futures):
                    yield answer
                    answered += 1
                batches = batches[answered:]
        finally:
            self._failing.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _collect_answers(
        self, batches: list[list[str]], futures: list["Future[list[Parse] | None]"]
    ) -> Iterator[list[Parse]]:
        """Answers as they come, up to the first batch that was not sent; failed ones are sent again here."""
        for batch, future in zip(batches, futures, strict=True):
            error = future.exception()
            if isinstance(error, _RequestError):
                wait(futures)  # running requests end before the server may be restarted
                yield self._resend_batch(batch, error)
                continue
            answer = future.result()
            if answer is None:
                return
            yield answer

    def _send_unless_failing(self, batch: list[str]) -> list[Parse] | None:
        if self._failing.is_set():
            return None
        try:
            return self._send(batch)
        except _RequestError:
            self._failing.set()
            raise

    def _resend_batch(self, batch: list[str], error: "_RequestError") -> list[Parse]:
        """Sends a failed batch once more, then its halves; records a sentence that fails alone."""
        self._recover(error)
        try:
            return self._send(batch)
        except _RequestError as again:
            if len(batch) == 1:
                logger.warning("not parsed: %r: %s", batch[0], again)
                self._recover(again)
                return [Parse.from_failure(str(again))]
            half = len(batch) // 2
            return self._resend_batch(batch[:half], again) + self._resend_batch(batch[half:], again)

    def _send(self, batch: list[str]) -> list[Parse]:
        sentences = self._annotate(self._client, "\n".join(batch), {})
        if len(sentences) == len(batch):
            return [self._parse(sentence) for sentence in sentences]
        return [self._send_sentence(line) for line in batch]

    def _send_sentence(self, line: str) -> Parse:
        sentences = self._annotate(self._client, line, ONE_SENTENCE)
        if len(sentences) != 1:
            return Parse.from_failure("no words" if not sentences else f"read as {len(sentences)} sentences")
        return self._parse(sentences[0])

    def _annotate(self, client: CoreNLPClient, text: str, properties: dict[str, str]) -> list[dict[str, Any]]:
        try:
            answer = client.annotate(text.replace("%", self._percent), properties=properties)
            return answer["sentences"] if isinstance(answer, dict) else list(map(_original_sentence, answer.sentence))
        except (AnnotationException, ValueError) as error:
            raise _RequestError(" ".join(str(error).split())[:300] or type(error).__name__) from error

    def _parse(self, sentence: dict[str, Any]) -> Parse:
        """A sentence of CoreNLP's JSON as a `Parse`."""
        tokens = sentence["tokens"]
        if len(tokens) > self.options.longest:
            return Parse.from_failure(
                f"{len(tokens)} tokens are more than the {self.options.longest} that the parser takes"
            )
        tree = re.sub("[ \t\r\n]+", " ", sentence["parse"])  # a word may contain a no-break space
        if not _is_tree(tree, len(tokens)):
            return Parse.from_failure("the parser found no tree")
        return Parse(
            tokens=[token["word"] for token in tokens],
            lemmas=[token["lemma"] for token in tokens],
            tags=[token["pos"] for token in tokens],
            tree=tree,
            basic_dependencies=_dependencies(sentence["basicDependencies"]),
            enhanced_dependencies=_dependencies(sentence["enhancedDependencies"]),
        )

    def _recover(self, error: "_RequestError") -> None:
        """Restarts the server unless it answers and neither its memory nor its time ran out."""
        exhausted = re.search("OutOfMemory|[Tt]ime", str(error))
        if exhausted or not self._server.is_answering():
            logger.warning("restarting the CoreNLP server: %s", error)
            self._server.stop()
            if self.restarts >= MOST_RESTARTS:
                raise InputError(
                    f"the CoreNLP server had to be restarted {self.restarts} times, the last time for: {error}\n"
                    "Give it more memory (memory_mb in config/parsers), or let no other program end it."
                )
            self.restarts += 1
            self._start()

    def _start(self) -> None:
        """Starts a server and waits until it parses; three attempts, as another process may take its port."""
        self._percent = "%"
        for attempt in (1, 2, 3):
            folder = Path(self._folder.name)
            self._server = Server(self._properties, self._jars, self.memory_mb, self.threads, folder)
            try:
                self._server.wait()
                (sentence,) = self._annotate(self._server.client(START_SECONDS), PROBE, {})
            except _RequestError as error:
                well = self._server.is_answering()
                self._server.stop()
                if well or attempt == 3:
                    raise InputError(
                        f"CoreNLP from {self.home} with {self.memory_mb} MB cannot parse with {self.options.model}: "
                        f"{error}\n{_last_lines(self._server.log)}\nSee that the jars hold this model and the "
                        "memory suffices."
                    ) from error
            else:
                decodes = [token["word"] for token in sentence["tokens"]] == ["100", "%", "sure"]
                self._percent = "%25" if decodes else "%"
                self._client = self._server.client(self.options.timeout * 1.2)  # the server's own time-out comes first
                return


class _RequestError(Exception):
    """The server did not answer a request: it died, hung, or failed on a sentence."""


def heap_mb(job_mb: int) -> int:
    """The server's heap in a job of this memory; the rest is for Java and for this program."""
    if job_mb < 2500:
        raise InputError(f"parsing with CoreNLP needs at least 2500 MB, and the job is given {job_mb} (memory_mb).")
    return job_mb - 1000


def _is_tree(bracketed: str, tokens: int) -> bool:
    """True if CoreNLP found a tree over these tokens; XX marks the words of a tree that it made up."""
    try:
        tree = read_tree(bracketed)
    except InputError:
        return False
    return int((tree.token >= 0).sum()) == tokens and "XX" not in tree.label


def _is_visible(text: str) -> bool:
    """True if a text has anything but spaces and invisible characters, on which CoreNLP fails."""
    return any(char.isprintable() and char != " " for char in text)


def _original_sentence(sentence: Any) -> dict[str, Any]:
    """A sentence of CoreNLP's protocol buffers in the form of its JSON."""
    return {
        "tokens": [{name: getattr(token, name) for name in ("word", "lemma", "pos")} for token in sentence.token],
        "parse": _format_tree(sentence.parseTree),
        "basicDependencies": _links(sentence.basicDependencies),
        "enhancedDependencies": _links(sentence.collapsedCCProcessedDependencies),
    }


def _format_tree(tree: Any) -> str:
    if tree.child:
        return f"({tree.value} {' '.join(map(_format_tree, tree.child))})"
    return str(tree.value).replace("(", "-LRB-").replace(")", "-RRB-")


def _links(graph: Any) -> list[dict[str, Any]]:
    """The links of a graph, words numbered from 1 and the roots' governor 0; a copy of a word is the word."""
    roots = [{"dep": "ROOT", "governor": 0, "dependent": root} for root in graph.root]
    return roots + [{"dep": edge.dep, "governor": edge.source, "dependent": edge.target} for edge in graph.edge]


def _dependencies(links: list[dict[str, Any]]) -> list[Dependency]:
    return [Dependency(link["dep"], link["governor"] - 1, link["dependent"] - 1) for link in links]


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:])


START_SECONDS = 600  # models are loaded; a busy machine needs many times the usual ten seconds
PING_SECONDS = 10


class Server:
    """A CoreNLP server's process, which annotates nothing for other users and hosts.

    It listens on every address, so it wants a user name and a password, which only this process and a file of the user
    know: neither is in the list of processes. It obeys them in every context that annotates.
    """

    def __init__(self, requested: Mapping[str, str], home: Path, memory_mb: int, threads: int, folder: Path) -> None:
        """Starts Java with the jars in `home` and the properties `requested`.

        `folder` is the user's alone, and gets all properties and the log.
        """
        port, self.log, self._format = _free_port(), folder / "server.log", requested["outputFormat"]
        self._login = {"username": secrets.token_hex(16), "password": secrets.token_hex(16)}
        # A separate path, so that another job's server on the same port cannot answer for this one.
        self.endpoint = f"http://localhost:{port}/{folder.name}"
        properties = {
            **requested,
            **self._login,
            "port": str(port),
            "uriContext": f"/{folder.name}",
            "threads": str(threads),
            "maxCharLength": str(10**9),
            "serverProperties": str(folder / "server.props"),
        }
        (folder / "server.props").touch(0o600)
        write_corenlp_props(properties, str(folder / "server.props"))
        # The default collector is a tenth slower, and needs a quarter more memory.
        command = ["java", f"-Xmx{memory_mb}m", "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}"]
        command += ["-cp", f"{home}/*", "edu.stanford.nlp.pipeline.StanfordCoreNLPServer"]
        command += ["-props", str(folder / "server.props")]
        if shutil.which("setpriv"):  # Linux: the server ends with its job, even when that is killed
            command = ["setpriv", "--pdeathsig", "KILL", *command]
        with self.log.open("w") as log:  # one file position, so that neither stream overwrites the other
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        _bypass_proxies_for_localhost()

    def client(self, seconds: float) -> CoreNLPClient:
        """A client of this server, which threads may share; it waits `seconds`."""
        client = CoreNLPClient(
            start_server=StartServer.DONT_START,
            endpoint=self.endpoint,
            output_format=self._format,
            timeout=seconds * 1000 / 2,  # stanza waits twice as long as it is told
        )
        client.annotate = partial(client.annotate, **self._login)
        return client

    def wait(self) -> None:
        """Waits until the server answers. Raises `_RequestError` if its process ends, or does not answer in time."""
        end = time.monotonic() + START_SECONDS
        while not self.is_answering():
            if self.process.poll() is not None:
                raise _RequestError(f"its process ended with exit status {self.process.returncode}")
            if time.monotonic() > end:
                raise _RequestError(f"it does not answer in {START_SECONDS} seconds")
            time.sleep(0.2)

    def is_answering(self) -> bool:
        """True if the server's process is alive and answers now."""
        try:
            return self.process.poll() is None and requests.get(f"{self.endpoint}/ping", timeout=PING_SECONDS).ok
        except requests.RequestException:
            return False

    def stop(self) -> None:
        """Ends the server at once, as it keeps nothing and a hanging one ignores polite requests."""
        self.process.kill()
        self.process.wait()


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _bypass_proxies_for_localhost() -> None:
    """Excludes localhost from proxies, by both spellings of the variable, as programs read one or the other."""
    variables = ("no_proxy", "NO_PROXY")
    named = [host.strip() for variable in variables for host in os.environ.get(variable, "").split(",")]
    hosts = ",".join(dict.fromkeys([*filter(None, named), "localhost", "127.0.0.1"]))
    os.environ.update(dict.fromkeys(variables, hosts))

"""One download from an odd answer, with a good address behind it, and what came of it."""

import hashlib
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from densevse.datasets import answers, download
from snakeproof.errors import InputError
from tests.system.answers import server
from tests.system.answers.server import BAD, CERTIFICATE, CONTENT, GOOD, LIES, UNENDED, Answer

FROM_IT, FROM_NEXT, WRONG, WAITS, UNTRIED = "the file", "the next address", "WRONG BYTES", "STILL WAITS", "-"
NOTHING, SIZE, SHA256 = "nothing", "size", "sha256"
KNOWN: dict[str, dict[str, object]] = {
    NOTHING: {},
    SIZE: {"size": len(CONTENT)},
    SHA256: {"sha256": hashlib.sha256(CONTENT).hexdigest()},
}
OVER_TLS = [*(name for name in BAD if name.startswith("from https")), "whole, by TLS", "another's certificate"]
LIMIT = 40.0
"""Seconds after which a download still waits."""


class Trial(NamedTuple):
    """An answer by its name, and what is known of the file."""

    answer: str
    known: str

    @property
    def expected(self) -> str:
        """The right outcome."""
        if self.answer in GOOD or self.answer == "whole, by TLS":
            return FROM_IT
        if self.answer in LIES:
            shown = self.known == SHA256 or (self.known == SIZE and self.answer != "other bytes")
            return FROM_NEXT if shown else UNTRIED
        if self.answer in UNENDED:
            return FROM_NEXT if self.known == NOTHING else FROM_IT
        return FROM_NEXT


def is_as_expected(trial: Trial, found: str) -> bool:
    """True if a trial ended as it should; of a spoilt answer, either address may have the file."""
    return found == trial.expected or (trial.answer.startswith("spoilt") and found in (FROM_IT, FROM_NEXT))


def answered(spoilt: int, seed: int) -> dict[str, Answer]:
    """The answers by name, with `spoilt` ones that are made at random."""
    tls = {"whole, by TLS": GOOD["whole"], "another's certificate": GOOD["whole"]}
    random = {f"spoilt {number}": server.spoilt(number) for number in range(seed, seed + spoilt)}
    return {**GOOD, **tls, **UNENDED, **BAD, **LIES, **random}


def trials(names: Mapping[str, Answer]) -> list[Trial]:
    """Each answer with each knowledge that could show what is wrong with it."""
    several = [Trial(name, known) for name in names for known in KNOWN if not name.startswith("spoilt")]
    spoilt = [Trial(name, SHA256) for name in names if name.startswith("spoilt")]
    return [*(one for one in several if one.expected != UNTRIED), *spoilt]


def outcomes(names: Mapping[str, Answer], folder: Path) -> dict[Trial, str]:
    """The outcome of each trial. Several run at once, as many wait."""
    with server.serving(names, folder) as places, impatient(folder), ThreadPoolExecutor(24) as pool:
        tried = trials(names)
        return dict(zip(tried, pool.map(lambda one: outcome(one, places, folder), tried), strict=True))


@contextmanager
def impatient(folder: Path) -> Iterator[None]:
    """Makes limits small, and trusts the server's certificate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "PATIENCE", 2.0)
        patch.setattr(download, "MOST_UNSTATED", 1 << 20)
        patch.setenv("REQUESTS_CA_BUNDLE", str(folder / CERTIFICATE))
        yield


def outcome(trial: Trial, places: tuple[str, str], folder: Path) -> str:
    """The outcome of a trial: the file, from whom; wrong bytes; an error; or nothing."""
    plain, safe = places
    place = safe if trial.answer in OVER_TLS else plain
    if trial.answer == "another's certificate":
        place = place.replace("127.0.0.1", "localhost")
    first, second = f"{place}/{quote(trial.answer)}/{trial.known}", f"{plain}/whole/{quote(trial.answer)}"
    path, said = folder / trial.known / trial.answer.replace("/", "_") / "file.bin", list[str]()
    source = {**dict.fromkeys(("manual", "size", "sha256", "md5", "sha1")), "url": first, **KNOWN[trial.known]}

    def run() -> None:
        try:
            download.download(source, path, [second], wait=0)
        except InputError as error:
            said.append(f"refused: {error}")
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LIMIT)
    if path.exists() and path.read_bytes() != CONTENT:
        return WRONG
    if thread.is_alive():
        return WAITS
    if said:
        return said[0]
    return FROM_IT if first in path.with_name(f"{path.name}.obtained.json").read_text() else FROM_NEXT

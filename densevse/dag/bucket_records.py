"""Snakemake's records of what lies in a bucket, kept in that bucket.

Snakemake compares settings and code with its records, which lie where it runs, and judges by time alone what it has no
record of. A second checkout on the same bucket would so take everything there for current, whatever its own settings
say. Therefore the records travel: a run reads them from the bucket before it plans, and writes them back.

`<results>/.records.json` holds the records, and the files that are in doubt, as Snakemake's marks of incomplete ones.
What a run is going to make is in doubt in it from before the first job until its record is written. So the object never
describes a file that another run, which died, has made of other settings: such a file is made again. The records are
written once a minute, whole, in one step; a run whose machine is lost costs what it made since then.

`<results>/.run.json` says that a run is under way, and which. It stays where a run was killed. The same checkout then
goes on, as its own records are complete; another one is refused. A bucket that holds results without records is refused
as a folder is (densevse.dag.records).
"""

import json
import os
import platform
import shutil
import threading
import time
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from densevse.dag.bucket import Bucket
from densevse.dag.records import SNAKEMAKE, let_records_lie_in
from densevse.runtime.errors import InputError

_MARKS = SNAKEMAKE / "incomplete"

SAVED_EVERY = 60.0
"""Seconds between two times that a run writes its records to the bucket."""


class BucketRecords:
    """The records of the results in a bucket, of this checkout's run."""

    def __init__(self, bucket: Bucket, results: str, warn: Callable[[str], None] = print) -> None:
        self._bucket, self._results, self._warn = bucket, results, warn
        self._object, self._run_object = f"{results}/.records.json", f"{results}/.run.json"
        self._kept = SNAKEMAKE / "records-of-buckets" / quote(bucket.address(results), safe="")
        self._run_file = self._kept.with_suffix(".run")
        self._fetched: str | None = None
        self._planned: dict[str, str | None] = {}  # address -> its record of before this run
        self._over = threading.Event()
        self._saving = threading.Thread(target=self._save_repeatedly, daemon=True)

    def fetch(self) -> None:
        """Let Snakemake plan with the bucket's records, or with its own where its last run there was killed.

        Raises `InputError` for results in the bucket that have no records, and for a bucket that does not answer.
        """
        let_records_lie_in(self._kept)
        run = self._bucket.read(self._run_object)
        self._fetched = self._bucket.read(self._object)
        if run is not None and run == self._own_run():
            return
        if self._fetched is None and self._bucket.holds(self._results):
            raise InputError(
                f"{self._bucket.address(self._object)}: not there. {self._bucket.address(self._results)} holds what an "
                "earlier run made, but not the records of how it made it, so that nobody could tell whether its "
                "settings and code were those of today. Copy that object too, or let --default-storage-prefix or "
                "`results` name a new folder."
            )
        self._replace(json.loads(self._fetched or '{"records": {}, "in_doubt": []}'))

    def begin(self, outputs: Iterable[str]) -> None:
        """Say in the bucket that a run is under way, which is going to make `outputs`, given as addresses.

        Raises `InputError` where another run is, or was killed, or has written records since this one was planned.
        """
        run = self._bucket.read(self._run_object)
        if run is not None and run != self._own_run():
            raise InputError(self._refusal(**json.loads(run)))
        if self._bucket.read(self._object) != self._fetched:
            raise InputError(
                f"{self._bucket.address(self._object)} has changed since this run was planned, as another run ended in "
                "the meantime. Run the same command again."
            )
        if run is None:
            run = json.dumps({"machine": platform.node(), "folder": os.getcwd(), "began": time.time(), "id": _new_id()})
            self._run_file.write_text(run, encoding="utf-8")
            self._bucket.write(self._run_object, run)
        self._planned = {address: _read(record_file(self._kept, address)) for address in outputs}
        self._save()
        self._saving.start()

    def end(self) -> None:
        """Write the records of a run that has ended, well or not, to the bucket."""
        self._over.set()
        self._saving.join()
        self._planned = {}
        self._save()
        self._bucket.remove(self._run_object)

    def _save_repeatedly(self) -> None:
        while not self._over.wait(SAVED_EVERY):
            try:
                self._save()
            except InputError as error:
                self._warn(f"{error} Until it answers, this run's records are kept on this machine alone.")

    def _save(self) -> None:
        records = dict(self._settled())
        in_doubt = sorted((self._planned.keys() - records.keys()) | set(self._marked()))
        found = json.dumps({"records": records, "in_doubt": in_doubt})
        if found != self._fetched:
            self._bucket.write(self._object, found)
            self._fetched = found

    def _settled(self) -> Iterator[tuple[str, str]]:
        """Addresses with their records, but for those of before this run of what it is going to make."""
        for address, path in recorded(self._kept):
            text = _read(path)
            if text is not None and (address not in self._planned or self._planned[address] != text):
                yield address, text

    def _marked(self) -> list[str]:
        """The addresses in this bucket that Snakemake has marked as incomplete."""
        return [address for address, _ in recorded(_MARKS) if address.startswith(self._bucket.prefix)]

    def _replace(self, found: dict[str, Any]) -> None:
        """Put the bucket's records into the place of those here."""
        shutil.rmtree(self._kept)
        self._kept.mkdir(parents=True)
        for address, text in found["records"].items():
            _write(record_file(self._kept, address), text)
        for address in self._marked():
            record_file(_MARKS, address).unlink()
        for address in found["in_doubt"]:
            _write(record_file(_MARKS, address), json.dumps({"external_jobid": None}))

    def _own_run(self) -> str | None:
        return _read(self._run_file)

    def _refusal(self, machine: str, folder: str, began: float, id: str) -> str:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(began))
        return (
            f"{self._bucket.address(self._run_object)}: a run that began on {when} UTC on {machine} in {folder} is "
            "under way, or was killed. If it is under way, wait. If it was killed, begin it again there, and nothing "
            "is lost. If that folder is no more, remove this object and run again: what that run made in its last "
            "minute is made again."
        )


def check_hooks(command: Sequence[str]) -> None:
    """Raise `InputError` for a command of Snakemake's that would not write its records.

    Snakemake itself knows its options only after it has read the rules.
    """
    if "--no-hooks" in command:
        raise InputError("--no-hooks: the records of what lies in a bucket are written by hooks; leave the option out.")


def record_file(folder: Path, address: str) -> Path:
    """The file in a folder of Snakemake's that tells of an address; it must exist."""
    text, longest = urlsafe_b64encode(address.encode()).decode(), os.pathconf(folder, "PC_NAME_MAX") - 1
    parts = [text[start : start + longest] for start in range(0, len(text), longest)]
    return Path(folder, *(f"@{part}" for part in parts[:-1]), parts[-1])


def recorded(folder: Path) -> Iterator[tuple[str, Path]]:
    """The addresses that files in a folder of Snakemake's tell of, each with its file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            with suppress(ValueError):  # a file of another kind
                yield urlsafe_b64decode(text).decode(), path


def _new_id() -> str:
    return str(uuid.uuid4())


def _read(path: Path) -> str | None:
    """A JSON file's text; None where it is not there, or is being written."""
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except (OSError, ValueError):
        return None
    return text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

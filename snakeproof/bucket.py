"""The bucket of results for machines without a shared disk, and Snakemake's records of these results, which it holds.

Snakemake's storage plugins read and write the bucket.

Snakemake keeps records on the machine where it runs, and compares settings and code with them. It judges a file without
a record by its time alone. So a second checkout on the same bucket would call every file there up to date, whatever its
own settings are. Therefore a run reads the records from the bucket before it plans, and writes them back.

`<results>/.records.json` holds the records, and a list of files in doubt. Snakemake treats these as incomplete. Every
planned output is in doubt from before the first job until its record is written. So if a run dies, the object never
describes a file that this run made with other settings, and the next run makes such a file again. A run writes the
records once a minute, in one step. If its machine is lost, the results of the last minute are made again.

`<results>/.run.json` names the run in progress. It remains if the run is killed. The same checkout can then go on,
because its own records are complete; any other checkout is refused. Results in a bucket without records are refused, as
in a folder (snakeproof.records).
"""

import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from snakeproof.errors import InputError
from snakeproof.records import SNAKEMAKE, link_records, list_addresses, mark_incomplete, record_file
from snakeproof.run_lock import describe_run, name_run

Result = TypeVar("Result")
_MARKS = SNAKEMAKE / "incomplete"

SAVED_EVERY = 60.0
"""Seconds between two times that a run writes its records to the bucket."""


class Bucket:
    """The bucket of a run with --default-storage-provider and --default-storage-prefix."""

    def __init__(self, workflow: Any) -> None:
        settings, provider = workflow.storage_settings, workflow.storage_registry.default_storage_provider
        prefix = settings.default_storage_prefix or ""
        self.prefix = prefix if prefix.endswith("/") or not prefix else f"{prefix}/"
        self._snakemakes = provider

    @cached_property
    def _provider(self) -> Any:
        """A separate provider, because threads must not share a client of a bucket."""
        own = self._snakemakes
        return type(own)(local_prefix=own.local_prefix, logger=own.logger, settings=own.settings)

    @staticmethod
    def from_workflow(workflow: Any) -> "Bucket | None":
        """The bucket of a run; None if results are on a disk."""
        return Bucket(workflow) if workflow.storage_settings.default_storage_provider else None

    def address(self, path: str) -> str:
        """The address of a path, which Snakemake uses as its name."""
        return f"{self.prefix}{os.path.normpath(path)}"

    def place(self, path: str) -> str:
        """The local copy of a path, which Snakemake's rules use as its name."""
        return str(self._snakemakes.object(self.address(path)).local_path())

    def holds(self, path: str) -> bool:
        """True if there is a file or folder of that name."""
        return self._ask(path, lambda found: bool(found.exists()))

    def read(self, path: str) -> str | None:
        """The text of a file; None if there is no such file."""
        return self._ask(path, _download_text) if self.holds(path) else None

    def write(self, path: str, text: str) -> None:
        """Write a file, and replace an existing one."""
        self._ask(path, lambda found: _upload_text(found, text))

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._ask(path, lambda found: found.remove())

    def _ask(self, path: str, ask: Callable[[Any], Result]) -> Result:
        """The result of `ask` for an object. Raises `InputError` that names it if the bucket does not answer."""
        try:
            return ask(self._provider.object(self.address(path)))
        except Exception as error:
            raise InputError(
                f"{self.address(path)}: the bucket does not answer ({error}). Check --default-storage-prefix, the "
                "plugin's settings (--storage-s3-endpoint-url and the like) and the credentials, and run again."
            ) from error


def missing_finder(storage: Callable[[str], Any]) -> Callable[[str], str | None]:
    """A function that gives Snakemake's name of an empty address, and None for an address of a file.

    `storage` is Snakemake's function that marks an address.
    """

    def find_missing(address: str) -> str | None:
        file = storage(address)
        return None if file.flags["storage_object"].exists() else str(file)

    return find_missing


def _download_text(found: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        found.set_local_path(Path(folder, "object"))
        found.retrieve_object()
        return Path(folder, "object").read_text(encoding="utf-8")


def _upload_text(found: Any, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found.set_local_path(Path(folder, "object"))
        Path(folder, "object").write_text(text, encoding="utf-8")
        found.store_object()


class BucketRecords:
    """The records of the results in a bucket, for a run of this checkout."""

    def __init__(self, bucket: Bucket, results: str, warn: Callable[[str], None] = print) -> None:
        self._bucket, self._results, self._warn = bucket, results, warn
        self._object, self._run_object = f"{results}/.records.json", f"{results}/.run.json"
        self._kept = SNAKEMAKE / "records-of-buckets" / quote(bucket.address(results), safe="")
        self._run_file = self._kept.with_name(f"{self._kept.name}.run")
        self._fetched: str | None = None
        self._planned: dict[str, str | None] = {}  # address -> its record of before this run
        self._over = threading.Event()
        self._saving = threading.Thread(target=self._save_repeatedly, daemon=True)

    def fetch(self) -> None:
        """Make Snakemake plan with the records of the bucket, or with its own if its last run there was killed.

        Raises `InputError` for results in the bucket that have no records, and for a bucket that does not answer.
        """
        link_records(self._kept)
        run = self._bucket.read(self._run_object)
        self._fetched = self._bucket.read(self._object)
        if run is not None and run == self._own_run():
            _doubt(self._unreadable_addresses())
            return
        if self._fetched is None and self._bucket.holds(self._results):
            raise InputError(
                f"{self._bucket.address(self._object)}: not there. {self._bucket.address(self._results)} holds what an "
                "earlier run made, but not the records of how it made it, so that nobody could tell whether its "
                "settings and code were those of today. Copy that object too, or let --default-storage-prefix or "
                "`results` name a new folder."
            )
        self._replace_records(
            self._parse_records(self._fetched) if self._fetched is not None else {"records": {}, "in_doubt": []}
        )

    def begin(self, outputs: Iterable[str]) -> None:
        """Register this run in the bucket, with the addresses of its planned `outputs`.

        Raises `InputError` if another run is in progress or was killed, or has written records since the plan.
        """
        run = self._bucket.read(self._run_object)
        if run is not None and run != self._own_run():
            raise InputError(self._refusal(run))
        if self._bucket.read(self._object) != self._fetched:
            raise InputError(
                f"{self._bucket.address(self._object)} has changed since this run was planned, as another run ended in "
                "the meantime. Run the same command again."
            )
        if run is None:
            run = describe_run()
            self._run_file.write_text(run, encoding="utf-8")
            self._bucket.write(self._run_object, run)
        self._planned = {address: _read(record_file(self._kept, address)) for address in outputs}
        self._save()
        self._saving.start()

    def end(self) -> None:
        """Write the records to the bucket at the end of a run, also of a failed one."""
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
        records = dict(self._current_records())
        in_doubt = sorted(
            (self._planned.keys() - records.keys()) | {*self._incomplete_addresses(), *self._unreadable_addresses()}
        )
        found = sealed_records({"records": records, "in_doubt": in_doubt})
        if found != self._fetched:
            self._bucket.write(self._object, found)
            self._fetched = found

    def _current_records(self) -> Iterator[tuple[str, str]]:
        """Addresses with their records, without the old records of planned outputs."""
        for address, path in list_addresses(self._kept):
            text = _read(path)
            if text is not None and (address not in self._planned or self._planned[address] != text):
                yield address, text

    def _incomplete_addresses(self) -> list[str]:
        """The addresses in this bucket that Snakemake has marked as incomplete."""
        return [address for address, _ in list_addresses(_MARKS) if address.startswith(self._bucket.prefix)]

    def _replace_records(self, found: dict[str, Any]) -> None:
        """Replace the records here by those of the bucket."""
        shutil.rmtree(self._kept)
        self._kept.mkdir(parents=True)
        for address, text in found["records"].items():
            _write(record_file(self._kept, address), text)
        for address in self._incomplete_addresses():
            record_file(_MARKS, address).unlink()
        _doubt(found["in_doubt"])

    def _unreadable_addresses(self) -> list[str]:
        """The addresses whose records here cannot be read, as after a power cut."""
        return [address for address, path in list_addresses(self._kept) if _read(path) is None]

    def _own_run(self) -> str | None:
        return _read(self._run_file)

    def _parse_records(self, text: str) -> dict[str, Any]:
        """The contents of the records' object. Raises `InputError` for anything that `_save` does not write."""
        try:
            found = json.loads(text)
            records, in_doubt = found["records"], found["in_doubt"]
            if sealed_records({"records": records, "in_doubt": in_doubt}) != text:
                raise ValueError("it is not as a run wrote it, or is of an earlier version")
            for record in records.values():
                json.loads(record)
            for address in [*records, *in_doubt]:
                _check_address(address)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"{self._bucket.address(self._object)}: damaged ({error}), so nobody can tell how the results there "
                "were made. Put an earlier copy of this object back, or let --default-storage-prefix or `results` name "
                "a new folder."
            ) from None
        return {"records": records, "in_doubt": in_doubt}

    def _refusal(self, text: str) -> str:
        return (
            f"{self._bucket.address(self._run_object)}: {name_run(text)} is under way, or was "
            "killed. If it is under way, wait. If it was killed, begin it again there, and nothing "
            "is lost. If that folder is no more, remove this object and run again: what that run made in its last "
            "minute is made again."
        )


def sealed_records(found: dict[str, Any]) -> str:
    """The text of the records' object: `found`, and a digest of it, so that none is left out unseen."""
    digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
    return json.dumps({**found, "sha256": digest})


def _doubt(addresses: Iterable[str]) -> None:
    """Lets Snakemake make the files at some addresses again."""
    for address in addresses:
        mark_incomplete(address)


def _check_address(address: Any) -> None:
    """Raises `ValueError` for what is no address of an object."""
    if not isinstance(address, str) or not address or not address.isprintable():
        raise ValueError(f"{address!r} is no address")


def _read(path: Path) -> str | None:
    """The text of a JSON file; None if it is missing or incomplete."""
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except (OSError, ValueError):
        return None
    return text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

"""The bucket of results for machines without a shared disk, read and written by Snakemake's storage plugins."""

import os
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from densevse.runtime.errors import InputError

Result = TypeVar("Result")


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
    def of(workflow: Any) -> "Bucket | None":
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
        return self._ask(path, _text) if self.holds(path) else None

    def write(self, path: str, text: str) -> None:
        """Write a file, and replace an existing one."""
        self._ask(path, lambda found: _store(found, text))

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


def missing_by(storage: Callable[[str], Any]) -> Callable[[str], str | None]:
    """A function that gives Snakemake's name of an empty address, and None for an address of a file.

    `storage` is Snakemake's function that marks an address.
    """

    def missing(address: str) -> str | None:
        file = storage(address)
        return None if file.flags["storage_object"].exists() else str(file)

    return missing


def _text(found: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        found.set_local_path(Path(folder, "object"))
        found.retrieve_object()
        return Path(folder, "object").read_text(encoding="utf-8")


def _store(found: Any, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found.set_local_path(Path(folder, "object"))
        Path(folder, "object").write_text(text, encoding="utf-8")
        found.store_object()

"""Keeps Snakemake's records of how each file was made beside the results.

Snakemake compares settings and digests of code with its records of the run that made a file, below .snakemake/metadata.
The records are in the folder of results, and .snakemake/metadata is a link to them: moving or copying the results takes
the records along. What a file says of itself decides, and not its record (`doubt_files`).
"""

import json
import os
import shutil
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from snakeproof.errors import InputError
from snakeproof.files import explain_write_errors
from snakeproof.statements import Statement, digest, is_artifact, is_older, read_statement, result_path

SNAKEMAKE = Path(".snakemake")
_OF_RECORD = {"rule", "params", "input", "incomplete", "endtime"}
_CLOCKS = 2
"""Seconds by which the time of a file may lie before the end of its job."""


def keep_records(results: str, is_dry_run: bool = False) -> None:
    """Puts Snakemake's records into the folder `results`, and moves there those that it wrote itself.

    A dry run makes no folder of results, and reads no records where there are none. Raises `InputError` for a folder
    that is not writable, and while another run keeps its records elsewhere, as they would end up in the wrong folder.
    """
    kept, link = Path(results, f".records-{quote(results, safe='')}"), SNAKEMAKE / "metadata"
    if is_dry_run and not kept.is_dir():
        if link.is_dir() and not link.is_symlink():
            return
        kept = SNAKEMAKE / "no-records"
    link_records(kept)


def doubt_files(results: str, is_made: Callable[[str], bool]) -> list[str]:
    """Marks files as incomplete whose records do not tell how they were made; returns them.

    Snakemake believes its record, also where the file is another one: after a power cut, a copy without records, or a
    file that was put in its place. So an artifact whose own statement differs from its record, or whose inputs are
    others now, is in doubt, and so is a file without a record. Snakemake plans the jobs of these, which take back what
    says that it is of them (snakeproof.unchanged). What is marked already stays so.
    """
    marks = SNAKEMAKE / "incomplete"
    marks.mkdir(parents=True, exist_ok=True)
    files = _result_files(results)
    doubted = [path for path in files if record_file(marks, path).exists() or (_is_doubtful(path) and is_made(path))]
    for path in doubted:
        mark_incomplete(path)
        with suppress(OSError):  # read-only results can still be looked at
            record_file(SNAKEMAKE / "metadata", path).unlink()  # which Snakemake may be unable to read
    return doubted


def mark_incomplete(path: str) -> None:
    """Lets Snakemake plan the job of a file."""
    mark = record_file(SNAKEMAKE / "incomplete", path)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(json.dumps({"external_jobid": None}))


def older_files(results: str) -> list[str]:
    """The artifacts of an earlier version, which do not state all of their job."""
    return [path for path in _result_files(results) if is_artifact(path) and _states_older(path)]


def doubted_warning(files: Sequence[str]) -> str | None:
    """The warning about files in doubt, if there are some."""
    if not files:
        return None
    return (
        f"{_name_files(files)}: no record tells how these were made. Their jobs are planned, and leave as it is what "
        "says that it is of today's settings, code and inputs."
    )


def older_warning(files: Sequence[str], adopt: str) -> str | None:
    """The warning about artifacts of an earlier version, if there are some; `adopt` is the command that keeps them."""
    if not files:
        return None
    return (
        f"{_name_files(files)}: of an earlier version. A run that needs them makes them again. To keep them, call "
        f"{adopt} before: it accepts those that agree with today's settings and inputs."
    )


def _name_files(files: Sequence[str]) -> str:
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    return f"{files[0]}{more}"


def _is_doubtful(path: str) -> bool:
    try:
        record = json.loads(record_file(SNAKEMAKE / "metadata", path).read_bytes())
        if not (isinstance(record, dict) and record.keys() >= _OF_RECORD and not record["incomplete"]):
            return True
        if not is_artifact(path):
            return bool(os.stat(path).st_mtime + _CLOCKS < record["endtime"])  # an older file was put in its place
        return not is_older(path) and not _agrees(read_statement(path), record)
    except (OSError, ValueError, RecursionError, TypeError, InputError):
        return True


def _agrees(statement: Statement, record: Mapping[str, Any]) -> bool:
    """True if a file's statement and Snakemake's record of its making are of one job, of which the inputs are there."""
    compared = [] if statement.code is None else [statement.call, statement.code, statement.given]
    compared += [statement.contents] if statement.contents else []
    inputs = [item for each in statement.inputs.values() for item in each.items()]
    changed = (
        digest(result_path(below)) != stated
        for below, stated in inputs
        if stated is not None and result_path(below).is_file()
    )
    return {*map(repr, compared)} <= {*record["params"]} and not any(changed)


def _states_older(path: str) -> bool:
    try:
        return is_older(path)
    except InputError:
        return False


def _result_files(results: str) -> Iterator[str]:
    """The files of a folder of results, but for logs and hidden ones."""
    for folder, inside, names in os.walk(results):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        if folder == results and "logs" in inside:
            inside.remove("logs")
        yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith("."))


def record_file(folder: Path, address: str) -> Path:
    """The file for a path or an address in one of Snakemake's folders, which must exist."""
    text, longest = urlsafe_b64encode(address.encode()).decode(), os.pathconf(folder, "PC_NAME_MAX") - 1
    parts = [text[start : start + longest] for start in range(0, len(text), longest)]
    return Path(folder, *(f"@{part}" for part in parts[:-1]), parts[-1])


def list_addresses(folder: Path) -> Iterator[tuple[str, Path]]:
    """The addresses in one of Snakemake's folders, each with its file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            with suppress(ValueError):  # a file of another kind
                yield urlsafe_b64decode(text).decode(), path


def link_records(kept: Path) -> None:
    """Let Snakemake's records lie in a folder. Raises `InputError` while a run whose records lie elsewhere goes on."""
    link = SNAKEMAKE / "metadata"
    if not (kept.is_dir() and link.is_symlink() and link.resolve() == kept.resolve()):
        _refuse_beside_a_run(link, kept)
        with explain_write_errors(kept):
            _make_link(link, kept)


def _refuse_beside_a_run(link: Path, kept: Path) -> None:
    """Raises `InputError` if a run of this working directory keeps its records in another folder."""
    elsewhere = link.is_symlink() and link.resolve() != kept.resolve()
    if elsewhere and any(SNAKEMAKE.glob("locks/*.lock")):
        raise InputError(
            f"results: a run is in progress here whose records go to {os.path.realpath(link)}, and not to {kept}. Wait "
            "until it is finished, or use another working directory (snakemake --directory). If no run is in progress, "
            "call snakemake --unlock with its configuration."
        )


def _make_link(link: Path, kept: Path) -> None:
    """Makes `link` a relative link to the folder `kept`, which takes over its earlier contents."""
    kept.mkdir(parents=True, exist_ok=True)
    if link.is_dir() and not link.is_symlink():
        shutil.copytree(link, kept, dirs_exist_ok=True)
        shutil.rmtree(link)
    # Without this folder Snakemake assumes that the records have its first format.
    (SNAKEMAKE / "incomplete").mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(kept.resolve(), SNAKEMAKE.resolve()))


def read_only_warnings(*folders: str) -> Iterator[str]:
    """A warning for each existing folder that is not writable; its contents can still be read."""
    for folder in folders:
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            yield (
                f"{folder} is not writable, so no job can make a file there. Make it writable (chmod -R u+w, or "
                "another mount), or name other folders as `results` and `resources` in the configuration."
            )

"""Keeps Snakemake's records of how each file was made beside the results.

Snakemake compares settings and digests of code with its records of the run that made a file, below .snakemake/metadata.
A file without a record counts as current, so results without records would keep old numbers after any change. Therefore
the records are in the folder of results, and .snakemake/metadata is a link to them: moving or copying the results takes
the records along.
"""

import json
import os
import shutil
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from densevse.artifacts.files import write_text, writing
from densevse.runtime.errors import InputError
from densevse.runtime.project import ADOPTS

SNAKEMAKE = Path(".snakemake")
_NAMED = 5
"""Files that an error names at most."""
ADOPTED = "adopted"
"""The key that only the record of an adopted file has."""
_WITHOUT = (
    " No file in {results} has a record. If this is a copy, copy the hidden folder {kept} too; if the folder had "
    "another name, give it that name again (a symbolic link will do)."
)
_ADOPTED_KEY = f'"{ADOPTED}": ['.encode()
_OF_RECORD = {"rule", "params", "input", "incomplete"}


def keep_records(results: str) -> None:
    """Puts Snakemake's records into the folder `results`, and moves there those that it wrote itself.

    Raises `InputError` for a folder that is not writable, and while another run keeps its records elsewhere, as they
    would end up in the wrong folder.
    """
    let_records_lie_in(Path(results, f".records-{quote(results, safe='')}"))


class Records:
    """The records of the files in a folder of results, but for logs and hidden ones."""

    def __init__(self, results: str) -> None:
        self._results = results

    def lost(self, is_made: Callable[[str], bool]) -> list[str]:
        """Files that a rule makes, but of whose making no record can be read.

        Among them are trained weights whose job ended, but was not recorded before its run was killed; what else
        Snakemake has marked as incomplete is made again.
        """
        return [path for path in _files(self._results) if not _is_recorded(path) and is_made(path)]

    @cached_property
    def adopted(self) -> dict[str, list[str]]:
        """What could not be compared when `densevse adopt` adopted a file, by the file's place below the folder.

        The file may be gone, while what was made from it is there.
        """
        texts = {path: file.read_bytes() for path, file in recorded(SNAKEMAKE / "metadata")}
        records = {path: json.loads(text) for path, text in texts.items() if _ADOPTED_KEY in text}
        return {os.path.relpath(path, self._results): record[ADOPTED] for path, record in sorted(records.items())}


def refuse_lost(results: str, lost: Sequence[str]) -> None:
    """Raises `InputError` that names files in `results` whose records are lost.

    Snakemake would call each of them current, whatever it was made with.
    """
    if lost:
        named = "".join(f"  {path}\n" for path in lost[:_NAMED])
        more = f"  and {len(lost) - _NAMED} more\n" if len(lost) > _NAMED else ""
        kept = (SNAKEMAKE / "metadata").resolve()
        raise InputError(
            f"no record can be read of how these files were made:\n{named}{more}They may be of other settings or code "
            "than today's. Records are lost when files are copied alone, when power fails, and when a run is killed at "
            "the end of a training. Call densevse adopt (with your --configfile): it compares the files with today's "
            "settings and inputs, and writes records of those that agree. Or delete them, and run again."
            + ("" if any(kept.iterdir()) else _WITHOUT.format(results=results, kept=kept.name))
        )


def check_touch(in_bucket: bool) -> None:
    """Raises `InputError` for `snakemake --touch`, unless `densevse adopt` calls it for results on a disk."""
    if in_bucket:
        raise InputError(
            "--touch, densevse adopt: files in a bucket cannot be adopted. Delete those without a record, and run "
            "again."
        )
    if ADOPTS not in os.environ:
        raise InputError(
            "--touch: it would call files current without comparing them. Call densevse adopt with the same targets "
            "(and your --configfile): it compares the files with today's settings and inputs, and adopts those that "
            "agree."
        )


def forget(files: Iterable[str]) -> None:
    """Removes what is left of the records of files, which Snakemake could not read."""
    for path in files:
        record_file(SNAKEMAKE / "metadata", path).unlink(missing_ok=True)


def adopt(path: str, record: bytes, uncompared: Sequence[str]) -> None:
    """Makes `record`, which Snakemake has written elsewhere, that of the file `path`, and marks the file as adopted.

    The mark is in the record, so it goes where the record goes, and is gone when a job makes the file again.
    """
    marked = {**json.loads(record), ADOPTED: [*uncompared]}
    write_text(json.dumps(marked), record_file(SNAKEMAKE / "metadata", path))
    record_file(SNAKEMAKE / "incomplete", path).unlink(missing_ok=True)


def _files(results: str) -> Iterator[str]:
    """The files of a folder of results, but for logs and hidden ones."""
    for folder, inside, names in os.walk(results):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        if folder == results and "logs" in inside:
            inside.remove("logs")
        yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith("."))


def _is_recorded(path: str) -> bool:
    """True for a file with a readable record, or one that is made again."""
    try:
        if record_file(SNAKEMAKE / "incomplete", path).exists():
            return not _is_trained(path)
        record = json.loads(record_file(SNAKEMAKE / "metadata", path).read_bytes())
        return isinstance(record, dict) and record.keys() >= _OF_RECORD and not record["incomplete"]
    except (OSError, ValueError, RecursionError):
        return False


def _is_trained(path: str) -> bool:
    """True for weights whose training has ended, as it has then removed its checkpoint."""
    return path.endswith(".safetensors") and not any(Path(path).parent.glob(".work-*"))


def record_file(folder: Path, address: str) -> Path:
    """The file for a path or an address in one of Snakemake's folders, which must exist."""
    text, longest = urlsafe_b64encode(address.encode()).decode(), os.pathconf(folder, "PC_NAME_MAX") - 1
    parts = [text[start : start + longest] for start in range(0, len(text), longest)]
    return Path(folder, *(f"@{part}" for part in parts[:-1]), parts[-1])


def recorded(folder: Path) -> Iterator[tuple[str, Path]]:
    """The addresses in one of Snakemake's folders, each with its file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            with suppress(ValueError):  # a file of another kind
                yield urlsafe_b64decode(text).decode(), path


def let_records_lie_in(kept: Path) -> None:
    """Let Snakemake's records lie in a folder. Raises `InputError` while a run whose records lie elsewhere goes on."""
    link = SNAKEMAKE / "metadata"
    if not (kept.is_dir() and link.is_symlink() and link.resolve() == kept.resolve()):
        _refuse_beside_a_run(link, kept)
        with writing(kept):
            _link(link, kept)


def _refuse_beside_a_run(link: Path, kept: Path) -> None:
    """Raises `InputError` if a run of this working directory keeps its records in another folder."""
    elsewhere = link.is_symlink() and link.resolve() != kept.resolve()
    if elsewhere and any(SNAKEMAKE.glob("locks/*.lock")):
        raise InputError(
            f"results: a run is in progress here whose records go to {os.path.realpath(link)}, and not to {kept}. Wait "
            "until it is finished, or use another working directory (snakemake --directory). If no run is in progress, "
            "call snakemake --unlock with its configuration."
        )


def _link(link: Path, kept: Path) -> None:
    """Makes `link` a relative link to the folder `kept`, which takes over its earlier contents."""
    kept.mkdir(parents=True, exist_ok=True)
    if link.is_dir() and not link.is_symlink():
        shutil.copytree(link, kept, dirs_exist_ok=True)
        shutil.rmtree(link)
    # Without this folder Snakemake assumes that the records have its first format.
    (SNAKEMAKE / "incomplete").mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(kept.resolve(), SNAKEMAKE.resolve()))


def read_only(*folders: str) -> Iterator[str]:
    """A warning for each existing folder that is not writable; its contents can still be read."""
    for folder in folders:
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            yield (
                f"{folder} is not writable, so no job can make a file there. Make it writable (chmod -R u+w, or "
                "another mount), or name other folders as `results` and `resources` in the configuration."
            )

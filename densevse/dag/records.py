"""Keeps Snakemake's records of how each file was made beside the results.

Snakemake compares settings and digests of code with its records of the run that made a file, below .snakemake/metadata.
A file without a record counts as current, so results without records would keep old numbers after any change. Therefore
the records are in the folder of results, and .snakemake/metadata is a link to them: moving or copying the results takes
the records along.
"""

import json
import os
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from densevse.artifacts.files import writing
from densevse.runtime.errors import InputError

SNAKEMAKE = Path(".snakemake")
_NAMED = 5
"""Files that an error names at most."""
_OF_RECORD = {"rule", "params", "input", "incomplete"}


def keep_records(results: str) -> None:
    """Puts Snakemake's records into the folder `results`, and moves there those that it wrote itself.

    Records name the paths of files, so they are useless if the folder had another name. Raises `InputError` for results
    without records, for a folder that is not writable, and while another run keeps its records elsewhere, as they would
    end up in the wrong folder.
    """
    kept, link = Path(results, f".records-{quote(results, safe='')}"), SNAKEMAKE / "metadata"
    own = link.is_dir() and not link.is_symlink() and any(link.iterdir())
    if not (kept.is_dir() or own) and any(Path(results).glob("*/*.parquet")):
        raise InputError(
            f"{kept}: no such folder. {results} has files of an earlier run, but no records of their settings and "
            f"code, which cannot be compared with today's. Copy the hidden folder {kept.name} too; if {results} had "
            "another name, give it that name again (a symbolic link will do); or name a new folder as `results`."
        )
    let_records_lie_in(kept)


def refuse_unrecorded(results: str, is_made: Callable[[str], bool]) -> None:
    """Raises `InputError` that names files in `results` that a rule makes, but of whose making no record can be read.

    Snakemake would call each of them current, whatever it was made with. What it has marked as incomplete is made again
    in any case.
    """
    lost = [path for path in _files(results) if not _is_recorded(path) and is_made(path)]
    if lost:
        named = "".join(f"  {path}\n" for path in lost[:_NAMED])
        more = f"  and {len(lost) - _NAMED} more\n" if len(lost) > _NAMED else ""
        raise InputError(
            f"no record can be read of how these files were made:\n{named}{more}They may be of other settings or code "
            "than today's; records are lost when power fails, or when files are copied alone. Delete these files, and "
            "run again; or, if you know that they are current, call snakemake --touch with the same targets."
        )


def _files(results: str) -> Iterator[str]:
    """The files of a folder of results, but for logs and hidden ones."""
    for folder, inside, names in os.walk(results):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        if folder == results and "logs" in inside:
            inside.remove("logs")
        yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith("."))


def _is_recorded(path: str) -> bool:
    """True for a file with a readable record, or one that Snakemake has marked as incomplete."""
    if record_file(SNAKEMAKE / "incomplete", path).exists():
        return True
    try:
        record = json.loads(record_file(SNAKEMAKE / "metadata", path).read_bytes())
        return isinstance(record, dict) and record.keys() >= _OF_RECORD and not record["incomplete"]
    except (OSError, ValueError):
        return False


def record_file(folder: Path, address: str) -> Path:
    """The file for a path or an address in one of Snakemake's folders, which must exist."""
    text, longest = urlsafe_b64encode(address.encode()).decode(), os.pathconf(folder, "PC_NAME_MAX") - 1
    parts = [text[start : start + longest] for start in range(0, len(text), longest)]
    return Path(folder, *(f"@{part}" for part in parts[:-1]), parts[-1])


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

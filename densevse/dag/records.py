"""Snakemake's records of how each file was made, kept beside what was made.

Snakemake compares settings and digests of code with its records of the run that made a file, below .snakemake/metadata.
Where it has no record it takes a file for current, so that results without their records would keep old figures after
any change. The records therefore lie in the folder of results, and .snakemake/metadata is a link to them: whoever
moves, copies or keeps the one has the other.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from densevse.artifacts.files import writing
from densevse.runtime.errors import InputError

SNAKEMAKE = Path(".snakemake")
CLOCKS_DIFFER = 600
"""Seconds by which machines that share a folder may differ."""


def keep_records(results: str) -> None:
    """Let Snakemake's records lie in the folder `results`; those that it wrote itself are moved there.

    Records name the path of what was made, so those of a folder that had another name are of no use. Raises
    `InputError` for results without records of their own, for a folder that cannot be written to, and while a run that
    keeps its records elsewhere is under way: they would go astray.
    """
    kept, link = Path(results, f".records-{quote(results, safe='')}"), SNAKEMAKE / "metadata"
    own = link.is_dir() and not link.is_symlink() and any(link.iterdir())
    if not (kept.is_dir() or own) and any(Path(results).glob("*/*.parquet")):
        raise InputError(
            f"{kept}: not there. {results} holds what an earlier run made, but not the records of how it made it, so "
            "that nobody could tell whether its settings and code were those of today. Copy the hidden folder "
            f"{kept.name} too; if {results} had another name, give it that name again (a symbolic link will do); or "
            "let `results` name a new folder."
        )
    let_records_lie_in(kept)


def let_records_lie_in(kept: Path) -> None:
    """Let Snakemake's records lie in a folder. Raises `InputError` while a run whose records lie elsewhere goes on."""
    link = SNAKEMAKE / "metadata"
    if not (kept.is_dir() and link.is_symlink() and link.resolve() == kept.resolve()):
        _refuse_beside_a_run(link, kept)
        with writing(kept):
            _link(link, kept)


def _refuse_beside_a_run(link: Path, kept: Path) -> None:
    """Raise `InputError` if a run of this working directory keeps its records in another folder."""
    elsewhere = link.is_symlink() and link.resolve() != kept.resolve()
    if elsewhere and any(SNAKEMAKE.glob("locks/*.lock")):
        raise InputError(
            f"results: a run is under way here whose records go to {os.path.realpath(link)}, and not to {kept}. Wait "
            "until it is finished, or use another working directory (snakemake --directory). If none is under way, say "
            "snakemake --unlock with its configuration."
        )


def _link(link: Path, kept: Path) -> None:
    """Make `link` a relative link to the folder `kept`, which takes over what was in it."""
    kept.mkdir(parents=True, exist_ok=True)
    if link.is_dir() and not link.is_symlink():
        shutil.copytree(link, kept, dirs_exist_ok=True)
        shutil.rmtree(link)
    # Without this folder Snakemake takes the records for some of its first format.
    (SNAKEMAKE / "incomplete").mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(kept.resolve(), SNAKEMAKE.resolve()))


def read_only(*folders: str) -> Iterator[str]:
    """What to say of each folder that is there and cannot be written to; what is in it can still be looked at."""
    for folder in folders:
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            yield (
                f"{folder} cannot be written to, so that no job can run that makes a file there. Let it be written to "
                "(chmod -R u+w, or another mount), or let `results` and `resources` of the configuration name folders "
                "that can be."
            )


def dated_in_the_future(*folders: str) -> Iterator[str]:
    """Warnings, one for each folder, of a file that is dated later than now."""
    latest = time.time() + CLOCKS_DIFFER
    for folder in folders:
        for path in sorted(Path(folder).glob("*/*")):
            dated = path.lstat().st_mtime
            if dated > latest:
                yield (
                    f"{path} is dated {time.strftime('%Y-%m-%d', time.gmtime(dated))}, later than now, so that "
                    "all that is made of it seems older and runs again each time. See that the clock is right, then: "
                    f"find {folder} -newermt now -exec touch {{}} + && snakemake --touch --cores 1 <targets>"
                )
                break

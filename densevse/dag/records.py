"""Keeps Snakemake's records of how each file was made beside the results.

Snakemake compares settings and digests of code with its records of the run that made a file, below .snakemake/metadata.
A file without a record counts as current, so results without records would keep old numbers after any change. Therefore
the records are in the folder of results, and .snakemake/metadata is a link to them: moving or copying the results takes
the records along.
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
"""Seconds by which the clocks of machines that share a folder may differ."""


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


def dated_in_the_future(*folders: str) -> Iterator[str]:
    """A warning for each folder with a file that is dated later than now."""
    latest = time.time() + CLOCKS_DIFFER
    for folder in folders:
        for path in sorted(Path(folder).glob("*/*")):
            dated = path.lstat().st_mtime
            if dated > latest:
                yield (
                    f"{path} is dated {time.strftime('%Y-%m-%d', time.gmtime(dated))}, later than now, so everything "
                    "made from it seems older and runs again each time. Check the clock, then run: "
                    f"find {folder} -newermt now -exec touch {{}} + && snakemake --touch --cores 1 <targets>"
                )
                break

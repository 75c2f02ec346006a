"""Downloads files of repositories on the Hugging Face Hub with the hub's own library.

The library resumes, and follows the user's settings: HF_ENDPOINT (a mirror), HF_TOKEN (for files that are not public),
proxies.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import RemoteEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

from densevse.artifacts.files import checksum, write_text, writing
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger


def download_from_hub(source: Mapping[str, Any], output: str | Path) -> None:
    """The job that obtains `source` (hub, revision, file, size and sha256 of a `Source`), whole and checked.

    Received bytes stay in the folder `<output>.part` between runs. `<output>.obtained.json` records the file's origin,
    size and sha256. Raises `InputError` if the hub does not give the file, or gives other bytes.
    """
    path = Path(output)
    part, record = (path.with_name(f"{path.name}.{ending}") for ending in ("part", "obtained.json"))
    with writing(path):
        part.mkdir(parents=True, exist_ok=True)
        record.unlink(missing_ok=True)
    logger.info("%s: asking the hub for %s at %s", path, source["hub"], source["revision"])
    received = _received(source, part, path)
    size, sha256 = received.stat().st_size, checksum(received)
    if source["size"] not in (None, size) or not sha256.startswith(source["sha256"]):
        shutil.rmtree(part)
        raise InputError(
            f"{path}: downloaded from {source['hub']}, but its size and sha256 are {size:,} and {sha256} "
            f"instead of {source['size'] or 'any'} and {source['sha256']}; it was removed. Correct "
            "revision and sha256 of the source."
        )
    where = {name: source[name] for name in ("hub", "revision", "file")}
    write_text(json.dumps({**where, "size": size, "sha256": sha256}, indent=2) + "\n", record)
    os.replace(received, path)
    shutil.rmtree(part)
    logger.info("%s: %d bytes, sha256 %s", path, size, sha256)


def _received(source: Mapping[str, Any], part: Path, path: Path) -> Path:
    try:
        found = hf_hub_download(source["hub"], source["file"], revision=source["revision"], local_dir=part)
    except (RepositoryNotFoundError, RevisionNotFoundError, RemoteEntryNotFoundError) as error:
        raise InputError(
            f"{path}: the hub has no file {source['file']} in {source['hub']} at {source['revision']} "
            f"({_first_line(error)}). Correct hub, revision or file of the source; a file that is not public needs "
            "HF_TOKEN."
        ) from error
    except Exception as error:  # connections fail with many kinds of exceptions, of several libraries
        raise InputError(
            f"{path}: the hub did not give it ({type(error).__name__}: {_first_line(error)}). Run again to resume; or "
            "obtain the file elsewhere, and name it as `local` of the network "
            f"{path.parent.name}."
        ) from error
    return Path(found)


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "no reason given")

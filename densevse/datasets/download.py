"""Downloads files, resumes after dropped connections, and never leaves a wrong file under the final name."""

import json
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import RemoteEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
from tqdm import tqdm

from densevse.artifacts.files import checksum, copy, write_text, writing
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger
from densevse.runtime.project import project_root

_ATTEMPTS = 5
TIMEOUT = (10, 60)
"""Seconds to wait for a connection, and for the next bytes."""

_BLOCK = 1 << 16
"""Bytes written at once, and the most that a dropped connection loses."""

PASSING = {408, 425, 429, 500, 502, 503, 504}
"""HTTP states after which another attempt may succeed."""

ALGORITHMS = ("sha256", "md5", "sha1")


class _DroppedError(Exception):
    """An attempt ended before the file did; the next one continues there."""


class _AddressError(Exception):
    """The file cannot be obtained from an address; another one may have it."""


def download(source: Mapping[str, Any], output: str | Path, mirrors: Sequence[str] = (), wait: float = 2.0) -> None:
    """The job that obtains `source` (the values of a `Source`: url, manual, size, checksums), whole and checked.

    `mirrors` are other addresses of the same bytes; each is tried after the one before it has failed. Received bytes
    stay in `<output>.part`, between attempts (`wait` seconds apart, then twice as long each time) and between runs;
    only the same address is asked for the rest, and only of the same version. `<output>.obtained.json` records the url
    that gave the file, its size and sha256. Raises `InputError` for a source that must be obtained by hand, or if every
    address refuses, keeps failing, or gives bytes of the wrong size or checksum, which are removed.
    """
    path = Path(output)
    if source["url"] is None:
        raise InputError(f"{path}: obtain this file by hand. {source['manual']}\n{_by_hand(path)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    _record(path).unlink(missing_ok=True)
    failures = []
    for url in (source["url"], *mirrors):
        try:
            logger.info("%s: asking %s", path, url)
            _obtain({**source, "url": url}, path, wait)
            return
        except _AddressError as error:
            logger.warning("%s: %s", url, error)
            failures.append(f"  {url}: {error}")
    raise InputError("\n".join([f"{path}: no address gave this file.", *failures, _by_hand(path)]))


def _obtain(source: Mapping[str, Any], path: Path, wait: float) -> None:
    """Obtains the file from one address, in several attempts. Raises `_AddressError` if that fails."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _fetch(source, _part(path))
            break
        except requests.exceptions.SSLError as error:
            raise _AddressError(f"no safe connection (TLS): {error}") from error
        except (_DroppedError, requests.RequestException) as error:
            logger.warning("%s, attempt %d of %d: %s", source["url"], attempt, _ATTEMPTS, error)
            if attempt == _ATTEMPTS:
                raise _AddressError(
                    f"failed {_ATTEMPTS} times, the last time with: {error}. Run again to resume."
                ) from error
            time.sleep(wait * 2 ** (attempt - 1))
    _accept(source, path)


def _fetch(source: Mapping[str, Any], part: Path) -> None:
    """One attempt: asks for the bytes that `part` lacks, or for all of them, and writes them there."""
    offset, headers = _resume(source, part)
    with requests.get(source["url"], headers=headers, stream=True, timeout=TIMEOUT) as response:
        start, total = extent(response)
        if response.status_code == 416 and offset == total:
            return
        if response.status_code == 416 or (response.status_code == 206 and start != offset):
            _forget(part)
            raise _DroppedError("the server cannot resume; starting from the beginning")
        if response.status_code in PASSING:
            raise _DroppedError(f"HTTP {response.status_code}")
        if response.status_code not in (200, 206):
            raise _AddressError(f"HTTP {response.status_code}")
        if source["size"] is not None and total not in (None, source["size"]):
            raise _AddressError(f"expected {source['size']:,} bytes, but the server offers {total:,}")
        _write(response, source["url"], part, start, total)
    if total is not None and part.stat().st_size < total:
        raise _DroppedError(f"{part.stat().st_size:,} of {total:,} bytes received")


def _resume(source: Mapping[str, Any], part: Path) -> tuple[int, dict[str, str]]:
    """The byte to resume from, and the headers that ask for it.

    Without a validator of the version, parts of two versions could be joined. Then it resumes only if a published
    checksum would detect that.
    """
    headers = {"Accept-Encoding": "identity"}
    if not (part.is_file() and part.stat().st_size and _version(part).is_file()):
        return 0, headers
    known = json.loads(_version(part).read_text(encoding="utf-8"))
    if known["url"] != source["url"] or not (known["validator"] or any(source[name] for name in ALGORITHMS)):
        return 0, headers
    offset = part.stat().st_size
    condition = {"If-Range": known["validator"]} if known["validator"] else {}
    return offset, {**headers, "Range": f"bytes={offset}-", **condition}


def extent(response: requests.Response) -> tuple[int, int | None]:
    """The first byte of the answer, and the size of the whole file if the server states it."""
    stated = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
    if stated:
        return int(stated[1] or 0), None if stated[2] == "*" else int(stated[2])
    length = response.headers.get("Content-Length")
    return 0, int(length) if length else None


def _write(response: requests.Response, url: str, part: Path, start: int, total: int | None) -> None:
    with (
        writing(part),
        open(part, "r+b" if start else "wb") as file,
        tqdm(desc=part.stem, initial=start, total=total, unit="B", unit_scale=True, disable=None) as bar,
    ):
        etag = response.headers.get("ETag", "")
        validator = response.headers.get("Last-Modified") if not etag or etag.startswith("W/") else etag
        write_text(json.dumps({"url": url, "validator": validator}), _version(part))
        file.seek(start)
        for block in response.iter_content(_BLOCK):
            file.write(block)
            bar.update(len(block))


def _accept(source: Mapping[str, Any], path: Path) -> None:
    """Gives the part file its final name if it matches the source."""
    part = _part(path)
    found = {"size": part.stat().st_size, "sha256": checksum(part)}
    for name in ("size", *ALGORITHMS):
        if source[name] is None:
            continue
        actual = found.get(name) or checksum(part, name)
        # torchvision publishes the start of a sha256 in the file's name
        if actual != source[name] and not (name == "sha256" and str(actual).startswith(source[name])):
            _forget(part)
            raise _AddressError(
                f"downloaded, but its {name} is {actual} instead of {source[name]}; it was removed. Run again; if it "
                "happens again, the file at that address has changed."
            )
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    write_text(json.dumps({"url": source["url"], **found}, indent=2) + "\n", _record(path))
    os.replace(part, path)
    _forget(part)
    logger.info("%s: %d bytes, sha256 %s", path, found["size"], found["sha256"])


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.obtained.json")


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _version(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _version(part).unlink(missing_ok=True)


def _by_hand(path: Path) -> str:
    return (
        f"You can also use your own file: put it at {path}, or name it in config/config.yaml as `local` "
        f"of the data set (there by the source's name), network or word vectors {path.parent.name}."
    )


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


def unpack(source: Mapping[str, str], output: str | Path) -> None:
    """The job that copies a file of the project: `source` has its path in the project's folder and its sha256.

    The copy has the same path in every project. Raises `InputError` if the file is missing or has another checksum.
    """
    file, sha256 = project_root() / source["packaged"], source["sha256"]
    if not file.is_file():
        raise InputError(f"{file} is missing: it comes with the project. Obtain the project again.")
    found = checksum(file)
    if not found.startswith(sha256):
        raise InputError(f"{file} has the sha256 {found}, not {sha256}: it was changed. Obtain the project again.")
    copy(file, output)

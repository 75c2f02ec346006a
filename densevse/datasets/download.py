"""Downloads files, resumes after dropped connections, and never leaves a wrong file under the final name."""

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import RemoteEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
from tqdm import tqdm

from densevse.config.sources import manual_advice, own_file_advice
from densevse.datasets.answers import (
    PASSING,
    AddressError,
    DroppedError,
    Extent,
    check_answer,
    extent,
    receive_answer,
    refuse_page,
)
from densevse.runtime.busy_servers import (
    BusyError,
    StillBusyError,
    ask_hub,
    describe_status,
    first_line,
    refuse_busy,
    wait_for_server,
)
from densevse.runtime.project import project_root
from snakeproof.errors import InputError
from snakeproof.files import checksum, copy, explain_write_errors, write_text
from snakeproof.logs import logger

_ATTEMPTS = 5

MOST_UNSTATED = 1 << 36
"""Bytes. The most that are taken where neither the configuration nor the server states a size."""

ALGORITHMS = ("sha256", "md5", "sha1")


def download(source: Mapping[str, Any], output: str | Path, mirrors: Sequence[str] = (), wait: float = 2.0) -> None:
    """The job that obtains `source` (the values of a `Source`: url, manual, size, checksums), whole and checked.

    `mirrors` are other addresses of the same bytes; each is tried after the one before it has failed. Received bytes
    stay in `<output>.part`, between attempts (`wait` seconds apart, then twice as long each time) and between runs;
    only the same address is asked for the rest, and only of the same version. `<output>.obtained.json` records the url
    that gave the file, its size and sha256; a later download must have that sha256, unless the source's differs. Raises
    `InputError` for a source that must be obtained by hand, or if every address refuses, keeps failing, or gives bytes
    that cannot be the file's or have the wrong size or checksum, which are removed.
    """
    path = Path(output)
    if source["url"] is None:
        raise InputError(manual_advice(output, source["manual"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {**source, "sha256": _known_sha256(path, source["sha256"])}
    failures = []
    for url in (source["url"], *mirrors):
        try:
            logger.info("%s: asking %s", path, url)
            _obtain({**known, "url": url}, path, wait)
            return
        except (AddressError, StillBusyError) as error:
            logger.warning("%s: %s", url, error)
            failures.append(f"  {url}: {error}")
    raise InputError("\n".join([f"{path}: no address gave this file.", *failures, own_file_advice(output)]))


def _obtain(source: Mapping[str, Any], path: Path, wait: float) -> None:
    """Obtains the file from one address, in several attempts. Raises `AddressError` if that fails."""
    attempt, waited = 1, 0.0
    while True:
        try:
            _fetch(source, _part(path), path.name)
            break
        except BusyError as error:
            waited = wait_for_server(error, waited)
        except DroppedError as error:
            logger.warning("%s, attempt %d of %d: %s", source["url"], attempt, _ATTEMPTS, error)
            if attempt == _ATTEMPTS:
                raise AddressError(
                    f"failed {_ATTEMPTS} times, the last time with: {error}. Run again to resume."
                ) from error
            time.sleep(wait * 2 ** (attempt - 1))
            attempt += 1
    _accept(source, path)


def _fetch(source: Mapping[str, Any], part: Path, file: str) -> None:
    """One attempt: asks for the bytes of `file` that `part` lacks, or for all of them, and writes them there."""
    kept = _resumable_part(source, part)
    offset = part.stat().st_size if kept else 0
    with receive_answer(source["url"], _range_headers(kept, offset)) as (response, blocks):
        if response.status_code in PASSING:
            refuse_busy(response.status_code, response.headers)
            raise DroppedError(describe_status(response.status_code))
        if response.status_code in (206, 416):
            if not _is_continuation(response, kept, offset):
                _forget(part)
                raise DroppedError("the server cannot resume; starting from the beginning")
            if response.status_code == 416:
                return
        check_answer(response, file)
        sent = extent(response)
        total = sent.total if sent.total is not None else kept.get("total")
        _check_size(source, total, response.raw.chunked)
        write_text(
            json.dumps({"url": source["url"], "validator": _validator(response), "total": total}), _version(part)
        )
        _write(blocks, part, sent._replace(end=sent.end or source["size"], total=total))
    if total is not None and part.stat().st_size < total:
        raise DroppedError(f"{part.stat().st_size:,} of {total:,} bytes received")


def _resumable_part(source: Mapping[str, Any], part: Path) -> dict[str, Any]:
    """The url, validator and total of the bytes in `part`, if these can be continued.

    Without a validator of the version, parts of two versions could be joined. Then they are continued only if a
    checksum would detect that.
    """
    try:
        known: dict[str, Any] = json.loads(_version(part).read_text(encoding="utf-8"))
        same = part.stat().st_size and known["url"] == source["url"]
        return known if same and (known["validator"] or any(source[name] for name in ALGORITHMS)) else {}
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged
        return {}


def _range_headers(kept: Mapping[str, Any], offset: int) -> dict[str, str]:
    condition = {"If-Range": kept["validator"]} if kept.get("validator") else {}
    return {"Range": f"bytes={offset}-", **condition} if offset else {}


def _is_continuation(response: requests.Response, kept: Mapping[str, Any], offset: int) -> bool:
    """True if the answer goes on at `offset`, in the version of the kept bytes, or says that no bytes are left."""
    try:
        sent = extent(response)
    except AddressError:
        return False
    if response.status_code == 416:
        return 0 < offset == sent.total
    same = kept.get("validator") in (None, _validator(response)) and kept.get("total") in (None, sent.total)
    return same and sent.end is not None and sent.start == offset


def _validator(response: requests.Response) -> str | None:
    """The version of a file: its ETag, or its date where that is weak or missing."""
    etag = response.headers.get("ETag", "")
    return response.headers.get("Last-Modified") if not etag or etag.startswith("W/") else etag


def _check_size(source: Mapping[str, Any], total: int | None, chunked: bool) -> None:
    """Raises `AddressError` for a size that differs, or is unknown where nothing would show that the end is missing."""
    if source["size"] is not None and total not in (None, source["size"]):
        raise AddressError(f"expected {source['size']:,} bytes, but the server offers {total:,}")
    if total is None and not chunked and not any(source[name] for name in ("size", *ALGORITHMS)):
        raise AddressError("does not say how long the file is; a source of it needs the key size or sha256")


def _write(blocks: Iterable[bytes], part: Path, sent: Extent) -> None:
    """Writes bytes where they belong. Raises `AddressError` if there are more of them than `sent` has."""
    limit = sent.end or MOST_UNSTATED
    with (
        explain_write_errors(part),
        open(part, "r+b" if sent.start else "wb") as file,
        tqdm(desc=part.stem, initial=sent.start, total=sent.total, unit="B", unit_scale=True, disable=None) as bar,
    ):
        file.seek(sent.start)
        for block in blocks:
            if file.tell() + len(block) > limit:
                _forget(part)
                raise AddressError(f"sends more than the {limit:,} bytes that it should; they were removed")
            file.write(block)
            bar.update(len(block))


def _accept(source: Mapping[str, Any], path: Path) -> None:
    """Gives the part file its final name if it matches the source."""
    part = _part(path)
    found = {"size": part.stat().st_size, "sha256": checksum(part)}
    try:
        _check(source, path, found)
    except AddressError:
        _forget(part)
        raise
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    write_text(json.dumps({"url": source["url"], **found}, indent=2) + "\n", _record(path))
    os.replace(part, path)
    _forget(part)
    logger.info("%s: %d bytes, sha256 %s", path, found["size"], found["sha256"])


def _check(source: Mapping[str, Any], path: Path, found: Mapping[str, Any]) -> None:
    """Raises `AddressError` if the part file is empty, a page, or not what the source or its record says."""
    with open(_part(path), "rb") as file:
        start = file.read(1 << 10)
    if not start:
        raise AddressError("gives an empty file")
    refuse_page(path.name, start)
    for name in ("size", *ALGORITHMS):
        if source[name] is None:
            continue
        actual = found.get(name) or checksum(_part(path), name)
        # torchvision publishes the start of a sha256 in the file's name
        if actual != source[name] and not (name == "sha256" and str(actual).startswith(source[name])):
            raise AddressError(
                f"downloaded, but its {name} is {actual} instead of {source[name]}; it was removed. Run again; if it "
                f"happens again, the file at that address has changed.{_record_hint(path)}"
            )


def _known_sha256(path: Path, key: str | None) -> str | None:
    """The sha256, or its start, that a download must have: its key, completed by the record of an earlier download.

    A key that differs from the record takes its place. Raises `InputError` for a record that cannot be read.
    """
    record = _record(path)
    if not record.exists():
        return key
    try:
        recorded = re.fullmatch("[0-9a-f]{64}", json.loads(record.read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        recorded, reason = None, f" ({error})"
    else:
        reason = ""
    if recorded is None:
        raise InputError(
            f"{record}: expected the sha256 of an earlier download of {path.name}{reason}; restore it, or delete it to "
            "take any file."
        )
    return recorded[0] if recorded[0].startswith(key or "") else key


def _record_hint(path: Path) -> str:
    record = _record(path)
    return f" {record} says what it was before; delete it to take another file." if record.exists() else ""


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.obtained.json")


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _version(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _version(part).unlink(missing_ok=True)


def download_from_hub(source: Mapping[str, Any], output: str | Path) -> None:
    """The job that obtains `source` (hub, revision, file, size and sha256 of a `Source`), whole and checked.

    Received bytes stay in the folder `<output>.part` between runs. `<output>.obtained.json` records the file's origin,
    size and sha256, with which a later download is compared. Raises `InputError` if the hub does not give the file, or
    gives other bytes.
    """
    path = Path(output)
    part, known = _part(path), _known_sha256(path, source["sha256"])
    with explain_write_errors(path):
        part.mkdir(parents=True, exist_ok=True)
    logger.info("%s: asking the hub for %s at %s", path, source["hub"], source["revision"])
    received = _receive_from_hub(source, part, path)
    size, sha256 = received.stat().st_size, checksum(received)
    if source["size"] not in (None, size) or not sha256.startswith(known or ""):
        shutil.rmtree(part)
        raise InputError(
            f"{path}: downloaded from {source['hub']}, but its size and sha256 are {size:,} and {sha256} "
            f"instead of {source['size'] or 'any'} and {known}; it was removed. Correct "
            f"revision and sha256 of the source.{_record_hint(path)}"
        )
    where = {name: source[name] for name in ("hub", "revision", "file")}
    write_text(json.dumps({**where, "size": size, "sha256": sha256}, indent=2) + "\n", _record(path))
    os.replace(received, path)
    shutil.rmtree(part)
    logger.info("%s: %d bytes, sha256 %s", path, size, sha256)


def _receive_from_hub(source: Mapping[str, Any], part: Path, path: Path) -> Path:
    try:
        found = ask_hub(
            lambda: hf_hub_download(
                source["hub"].removeprefix("datasets/"),
                _hub_path(source),
                repo_type="dataset" if source["hub"].startswith("datasets/") else "model",
                revision=source["revision"],
                local_dir=part,
            )
        )
    except (RepositoryNotFoundError, RevisionNotFoundError, RemoteEntryNotFoundError) as error:
        raise InputError(
            f"{path}: the hub has no file {_hub_path(source)} in {source['hub']} at {source['revision']} "
            f"({first_line(error)}). Correct hub, revision or file of the source; a file that is not public needs "
            "HF_TOKEN."
        ) from error
    except StillBusyError as error:
        raise InputError(f"{path}: the hub did not give it: {error}.") from error
    except Exception as error:  # connections fail with many kinds of exceptions, of several libraries
        raise InputError(
            f"{path}: the hub did not give it ({type(error).__name__}: {first_line(error)}). Run again to resume; or "
            f"obtain the file elsewhere, and name it as `local` of {path.parent.name}."
        ) from error
    return Path(found)


def _hub_path(source: Mapping[str, Any]) -> str:
    return str(source.get("path") or source["file"])


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

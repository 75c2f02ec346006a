"""Seals: digests with which a file proves that its bytes are those that were written.

A Parquet file has its seal between its pages and its footer, where software that goes by the footer passes it by:

    pages | seal (JSON) | length of the seal, its digest, MARK | footer | length of the footer, PAR1

The seal holds a digest of each 256 KiB of the pages, one of the footer, and one of the rows, by which statements name
the file. A safetensors file has no such room. There, its statement in the metadata begins with two digests: `content`
is of the weights, by which statements name the file, and `seal` of the header and the weights.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from snakeproof.errors import InputError
from snakeproof.files import atomic_file, file_facts, is_settled

MARK, OLDER_MARK, PARQUET, WEIGHTS = b"snakprof", b"densevse", b"PAR1", ".safetensors"
CHUNK = 2**18
SHORT = 8
"""Bytes of the digest of a chunk; damage passes once in 10^19 times."""
BEHIND = 4 + SHORT + len(MARK)
"""Bytes behind the seal: its length, its digest and the mark."""
UNKNOWN = "0" * 64
"""What a safetensors file has in the place of a digest while it is computed."""
CONTENT, SEAL, OLDER_SEAL = "content", "seal", "digest"
"""Keys of digests in the metadata of a safetensors file; one of an earlier version has one of all its bytes."""
Facts: TypeAlias = tuple[str, *tuple[int, ...]]
_read: dict[Facts, "Sealed"] = {}
_verified: set[Facts] = set()
"""Files that this process has read, or found whole, by path, size, times and inode."""


class Sealed(NamedTuple):
    """What a file says of itself, outside its pages or weights: the digest of its content, and its metadata."""

    digest: str
    metadata: Mapping[str, str]
    chunks: bytes = b""  # the digests of a Parquet file's pages
    pages: int = 0  # the bytes of these


def read_seal(path: str | Path) -> Sealed:
    """What a file says of itself; the end of a Parquet file is checked, its pages are not, and neither are weights.

    Raises `InputError` if the file is missing, has no seal or is damaged there.
    """
    facts = _facts(path)
    if facts not in _read:
        found = _read_weights(path) if Path(path).suffix == WEIGHTS else _read_parquet(path)
        if is_settled(facts[1:], time.time_ns()):
            _read[facts] = found
        return found
    return _read[facts]


def verify_file(path: str | Path) -> str:
    """The digest by which statements name a file. Every byte is checked, unless this process has checked it before.

    Raises `InputError` if the file is missing, has no seal or is damaged.
    """
    facts, sealed = _facts(path), read_seal(path)
    if facts not in _verified:
        if Path(path).suffix == WEIGHTS:
            _check_weights(path)
        else:
            with open(path, "rb") as file:
                for number, chunk in enumerate(_chunks(file, sealed.pages)):
                    check_chunk(path, sealed, number, chunk)
        if is_settled(facts[1:], time.time_ns()):
            _verified.add(facts)
    return sealed.digest


def check_chunk(path: str | Path, sealed: Sealed, number: int, chunk: bytes | memoryview) -> None:
    """Raises `InputError` if a chunk of a Parquet file's pages does not have the bytes that were written."""
    if _short_digest(chunk) != sealed.chunks[number * SHORT : (number + 1) * SHORT]:
        raise damage_error(path, f"in the bytes from {number * CHUNK:,} on")


def _facts(path: str | Path) -> Facts:
    try:
        status = os.stat(path)
    except OSError:
        raise InputError(f"{path}: no such file. Run snakemake with this path as its target to make it.") from None
    return (os.path.abspath(path), *file_facts(status))


def damage_error(path: str | Path, where: str) -> InputError:
    """The error for a file with other bytes than those that were written."""
    return InputError(
        f"{path}: damaged {where}: these are not the bytes that were written. Delete the file and run snakemake again; "
        "if it happens again, check the disk."
    )


def is_sealed(path: str | Path) -> bool:
    """True for a file with a seal, which files of others and of earlier versions do not have.

    Raises `InputError` for a file that does not end as Parquet does.
    """
    with open(path, "rb") as file:
        if Path(path).suffix == WEIGHTS:
            header = _read_header(file)
            return any(_digest_key(name) in header for name in (SEAL, OLDER_SEAL))
        file.seek(max(0, _footer_start(path, file) - len(MARK)))
        return file.read(len(MARK)) in (MARK, OLDER_MARK)


# Parquet


def seal_parquet(path: str | Path, digest: str) -> None:
    """Seals a Parquet file with the digest of its rows, while it still has a temporary name."""
    with open(path, "r+b") as file:
        pages = _footer_start(path, file)
        chunks = b"".join(map(_short_digest, _chunks(file, pages)))
        footer = file.read()
        file.seek(pages)
        file.write(_sealed_end(digest, pages, chunks, footer))


def _sealed_end(digest: str, pages: int, chunks: bytes, footer: bytes) -> bytes:
    stated = {"rows": digest, "pages": pages, "chunks": chunks.hex(), "footer": _short_digest(footer).hex()}
    text = json.dumps(stated).encode()
    return text + len(text).to_bytes(4, "little") + _short_digest(text) + MARK + footer


def _read_parquet(path: str | Path) -> Sealed:
    with open(path, "rb") as file:
        begin = _footer_start(path, file)
        file.seek(max(0, begin - BEHIND))
        behind, footer = file.read(min(BEHIND, begin)), file.read()
        size, digest = int.from_bytes(behind[:4], "little"), behind[4 : 4 + SHORT]
        if not behind.endswith((MARK, OLDER_MARK)) or size > begin - BEHIND:
            raise _unsealed_error(path)
        file.seek(begin - BEHIND - size)
        text = file.read(size)
    if _short_digest(text) != digest:
        raise damage_error(path, "in its seal")
    stated: dict[str, Any] = json.loads(text)
    if _short_digest(footer).hex() != stated["footer"]:
        raise damage_error(path, "in its footer")
    return Sealed(stated["rows"], _key_values(footer), bytes.fromhex(stated["chunks"]), stated["pages"])


def _footer_start(path: str | Path, file: IO[bytes]) -> int:
    """The place of a Parquet file's footer. Raises `InputError` if the file does not end as Parquet does."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read()
    start = size - 8 - int.from_bytes(end[:4], "little")
    if not end.endswith(PARQUET) or start < len(PARQUET):
        raise InputError(f"{path}: not a whole Parquet file (its end is missing). Delete it and run snakemake again.")
    return start


def _chunks(file: IO[bytes], pages: int) -> Iterator[bytes]:
    """The pages of a Parquet file, in chunks."""
    file.seek(0)
    for begin in range(0, pages, CHUNK):
        yield file.read(min(CHUNK, pages - begin))


KEYS = ("schema", "version", "row", "columns", "statement", "made_from", "identity")
"""Keys of Parquet files, behind the name of the package that wrote them."""
PACKAGES = ("snakeproof", "densevse")


def _key_values(footer: bytes) -> dict[str, str]:
    """The metadata in a Parquet footer that is ours, without a library that takes long to import.

    In Thrift's compact protocol a pair is (18) the length and the bytes of the key, (18) the same of the value.
    """
    found = {}
    for name in (f"{package}.{key}" for package in PACKAGES for key in KEYS):
        before, _, behind = footer.rpartition(_pair_start(name))
        if before:
            size, width = _varint(behind)
            found[name] = behind[width : width + size].decode()
    return found


def copy_parquet(source: str | Path, output: str | Path, replaced: Mapping[str, tuple[str, str]]) -> None:
    """Copies a Parquet file with other metadata, and seals it: key -> the key and value in its place.

    The rows and so the digest stay as they are. Raises `InputError` as `read_seal` and `atomic_file` do.
    """
    stated = read_seal(source)
    with open(source, "rb") as file:
        start = _footer_start(source, file)
        file.seek(start)
        footer = file.read()[: -4 - len(PARQUET)]
    for name, (key, value) in replaced.items():
        before, found, behind = footer.rpartition(_pair_start(name))
        if found:
            size, width = _varint(behind)
            footer = (
                before
                + _pair_start(key)
                + _encode_number(len(value.encode()))
                + value.encode()
                + behind[width + size :]
            )
    footer += len(footer).to_bytes(4, "little") + PARQUET
    with atomic_file(output) as temporary:
        shutil.copyfile(source, temporary)
        with open(temporary, "r+b") as file:
            file.seek(stated.pages)
            file.write(_sealed_end(stated.digest, stated.pages, stated.chunks, footer))
            file.truncate()


def _pair_start(name: str) -> bytes:
    return b"\x18" + _encode_number(len(name)) + name.encode() + b"\x18"


def _encode_number(value: int) -> bytes:
    """A number as `_varint` reads it."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _encode_number(rest) if rest else bytes([low])


def _varint(text: bytes) -> tuple[int, int]:
    """A number of Thrift's compact protocol, 7 bits in a byte, and the count of its bytes."""
    width = next(place for place, byte in enumerate(text) if byte < 0x80) + 1
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(text[:width])), width


# safetensors


@contextmanager
def sealed_file(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path for weights with `sealable_text` in their metadata; they are sealed and moved to `path`.

    Raises `InputError` as `atomic_file` does.
    """
    with atomic_file(path) as temporary:
        yield temporary
        seal_weights(temporary)


def sealable_text(values: Mapping[str, Any]) -> str:
    """The text of values in a safetensors file's metadata, with room for the digests of its seal.

    They are one text, as safetensors orders several at random.
    """
    return json.dumps({CONTENT: UNKNOWN, SEAL: UNKNOWN, **values})


def seal_weights(path: str | Path) -> None:
    """Seals a safetensors file with a `sealable_text` in its metadata, while it still has a temporary name."""
    with open(path, "r+b") as file:
        header = _read_header(file)
        content = _weights_digest(path, header, file)
        header = _insert_digest(header, CONTENT, content)
        file.seek(0)
        file.write(_insert_digest(header, SEAL, _seal_digest(header, content)))


def copy_weights(source: str | Path, output: str | Path, metadata: Mapping[str, str]) -> None:
    """Copies a safetensors file with other metadata, and seals it; the weights stay as they are."""
    with open(source, "rb") as file:
        header = _parse_header(source, _read_header(file))
        text = json.dumps({"__metadata__": dict(metadata), **{k: v for k, v in header.items() if k != "__metadata__"}})
        whole = text.encode() + b" " * (-len(text.encode()) % 8)
        with sealed_file(output) as temporary, open(temporary, "wb") as written:
            written.write(len(whole).to_bytes(8, "little") + whole)
            shutil.copyfileobj(file, written)


def _check_weights(path: str | Path) -> None:
    with open(path, "rb") as file:
        header = _read_header(file)
        stated = _stated_digest(header, SEAL)
        if stated is None:
            digest = hashlib.sha256(_insert_digest(header, OLDER_SEAL, UNKNOWN))
            while part := file.read(CHUNK):
                digest.update(part)
            found, stated = digest.hexdigest(), _stated_digest(header, OLDER_SEAL)
        else:
            found = _seal_digest(header, _weights_digest(path, header, file))
    if found != stated:
        raise damage_error(path, "somewhere")


def _read_weights(path: str | Path) -> Sealed:
    with open(path, "rb") as file:
        header = _read_header(file)
    stored = _parse_header(path, header).get("__metadata__", {})
    if not isinstance(stored, dict):
        raise InputError(f"{path}: not a safetensors file, as its header is no object. Delete it and run snakemake.")
    digest = _stated_digest(header, CONTENT) or _stated_digest(header, OLDER_SEAL)
    if digest is None:
        raise _unsealed_error(path)
    return Sealed(digest, stored)


def safetensors_metadata(path: str | Path) -> dict[str, str]:
    """The metadata of a safetensors file, with a seal or without. Raises `InputError` if it is not whole."""
    with open(path, "rb") as file:
        stored: dict[str, str] = _parse_header(path, _read_header(file)).get("__metadata__", {})
    return stored


def _weights_digest(path: str | Path, header: bytes, file: IO[bytes]) -> str:
    """The digest of the names, types, shapes and bytes of weights, which follow in `file`."""
    tensors = {name: value for name, value in _parse_header(path, header).items() if name != "__metadata__"}
    digest = hashlib.sha256(json.dumps(tensors, sort_keys=True).encode())
    while part := file.read(CHUNK):
        digest.update(part)
    return digest.hexdigest()


def _seal_digest(header: bytes, content: str) -> str:
    return hashlib.sha256(_insert_digest(header, SEAL, UNKNOWN) + content.encode()).hexdigest()


def _parse_header(path: str | Path, header: bytes) -> dict[str, Any]:
    """The header of a safetensors file. Raises `InputError` if it is not whole, or of another form."""
    try:
        if len(header) < 8 + int.from_bytes(header[:8], "little"):
            raise ValueError("its header is cut off")
        found = json.loads(header[8:])
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: not a safetensors file, as its header is no object. Delete it and run snakemake.")
    return found


def _read_header(file: IO[bytes]) -> bytes:
    """The first bytes of a safetensors file, up to its weights: the length of the header, and the header."""
    length = file.read(8)
    size = int.from_bytes(length, "little")
    room = os.fstat(file.fileno()).st_size - 8
    return length + file.read(min(size, max(0, room)))


def _digest_key(name: str) -> bytes:
    """The key of a digest in a header: the metadata is JSON in JSON."""
    return f'\\"{name}\\": \\"'.encode()


def _stated_digest(header: bytes, name: str) -> str | None:
    """The digest of that name in the header; its key is the first of that name."""
    place = header.find(_digest_key(name))
    return None if place < 0 else header[place + len(_digest_key(name)) :][: len(UNKNOWN)].decode(errors="replace")


def _insert_digest(header: bytes, name: str, digest: str) -> bytes:
    place = header.find(_digest_key(name)) + len(_digest_key(name))
    return header[:place] + digest.encode() + header[place + len(UNKNOWN) :]


def _short_digest(part: bytes | memoryview) -> bytes:
    return hashlib.sha256(part).digest()[:SHORT]


def _unsealed_error(path: str | Path) -> InputError:
    return InputError(
        f"{path}: expected a file that proves its contents, found one without a seal: of an earlier version, of other "
        "software, or damaged at its end. Delete it and run snakemake again."
    )

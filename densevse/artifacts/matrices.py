"""Memory-maps arrays in files of others: npy, npz, Parquet and safetensors; writes npy.

Compressed or encoded data (a compressed npz, any Parquet file) are unpacked piece by piece into an unnamed file, which
is mapped in their place. Nothing that can hold code is loaded: neither pickles nor arrays of Python objects.
"""

import json
import math
import shutil
import tempfile
import tokenize
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from densevse.artifacts.archives import DAMAGES, check_packing, check_ratio
from densevse.artifacts.texts import decode_text
from snakeproof.errors import InputError
from snakeproof.files import atomic_file

_SAFETENSORS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
_ROWS_AT_ONCE = 256
ARRAY_DAMAGES = (*DAMAGES, ValueError, NotImplementedError, tokenize.TokenError, pa.ArrowException)
"""The errors that libraries raise for a damaged file of arrays."""
_CONVERT = (
    "convert it where it was made: np.save('array.npy', np.asarray(values, np.float32)), or of tensors: "
    "np.save('array.npy', values.float().cpu().numpy())"
)


class Matrix(NamedTuple):
    """A matrix (rows, columns), or an array of more dimensions, of floats in a file, memory-mapped."""

    name: str  # the file, and the array in it
    values: NDArray[Any]
    ids: NDArray[np.object_] | None = None  # ids of its rows, if the file has them


def open_matrix(path: str | Path, key: str, unpacked_in: str | Path, dimensions: int = 2) -> Matrix:
    """The matrix of a file; of several in one file, the one called `key`.

    Data are unpacked in the folder `unpacked_in` if necessary. Raises `InputError` for a file that is missing,
    truncated, a pickle, or not an array of floats with this number of dimensions.
    """
    read = _READERS.get(Path(path).suffix.lower())
    if read is None:
        raise InputError(
            f"{path}: expected {', '.join(_READERS)}; pickles and other formats are not loaded. To use it, {_CONVERT}."
        )
    try:
        matrix = read(Path(path), key, Path(unpacked_in), dimensions)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; correct the path of {key}.") from None
    except ARRAY_DAMAGES as error:
        raise InputError(
            f"{path}: not a whole {Path(path).suffix[1:]} file ({error}); write or copy it again."
        ) from error
    check_numbers(matrix.values, matrix.name, dimensions)
    return matrix


def write_matrix(values: NDArray[Any], path: str | Path) -> None:
    """Writes an array as npy, atomically."""
    with atomic_file(path) as temporary, open(temporary, "wb") as file:
        np.save(file, values)


def check_numbers(values: NDArray[Any], name: str, dimensions: int = 2) -> None:
    """Raises `InputError` for an array of no floats, with masked numbers, or with another number of dimensions."""
    if values.ndim != dimensions:
        raise InputError(
            f"{name}: expected an array of {dimensions} dimensions, found the shape {values.shape}; write it again."
        )
    if not np.issubdtype(values.dtype, np.floating):
        tie = " Whole numbers are ranks or rounded values, which tie." if values.dtype.kind in "iub" else ""
        raise InputError(f"{name}: expected floats, found {values.dtype}.{tie} Write the values as float32.")
    if np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise InputError(f"{name}: the number at {place} is masked, and every number is needed; fill the array.")
    if not values.size:
        raise InputError(f"{name}: there are no numbers, as the shape is {values.shape}; write it again.")


def _open_npy(path: Path, key: str, folder: Path, dimensions: int) -> Matrix:
    with open(path, "rb") as file:
        values = _map_npy(file, str(path))
        if isinstance(values, np.memmap) and file.seek(0, 2) > values.offset + values.nbytes:
            raise ValueError("something is behind its array; several arrays belong into an npz")
        return Matrix(str(path), values)


def _open_npz(path: Path, key: str, folder: Path, dimensions: int) -> Matrix:
    with zipfile.ZipFile(path) as archive:
        chosen = _choose_name(
            [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")], key, path
        )
        name, info = f"{path}, {chosen}", archive.getinfo(f"{chosen}.npy")
        check_packing(path, info)
        if info.compress_type == zipfile.ZIP_STORED:
            with open(path, "rb") as file:
                file.seek(info.header_offset + 26)
                lengths = np.frombuffer(file.read(4), "<u2")  # of the name and the extra field, which end the header
                file.seek(int(lengths.sum()), 1)
                return Matrix(name, _map_npy(file, name))
        check_ratio(path, chosen, info.compress_size, info.file_size)
        with archive.open(info) as packed:  # nothing is unpacked if its header says that it is of no use
            shape, _, dtype = _npy_header(packed, name)
            check_numbers(np.broadcast_to(np.empty((), dtype), shape), name, dimensions)
        with archive.open(info) as packed, tempfile.TemporaryFile(dir=folder) as file:
            shutil.copyfileobj(packed, file)
            file.seek(0)
            return Matrix(name, _map_npy(file, name))


def _map_npy(file: IO[bytes], name: str) -> NDArray[Any]:
    """The array whose header starts at the current position of `file`."""
    shape, by_column, dtype = _npy_header(file, name)
    return _map_array(file, dtype, file.tell(), shape, by_column)


def _npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, the order and the type of numbers that an array's header states; the array follows it in `file`."""
    if file.read(1) == b"\x80":
        raise InputError(f"{name}: expected an array, found a pickle, which is not loaded; {_CONVERT}.")
    file.seek(-1, 1)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, dtype = read_header(file)
    if dtype.hasobject:
        raise InputError(f"{name}: expected floats, found Python objects, which are not loaded; {_CONVERT}.")
    return shape, by_column, dtype


def _map_array(file: IO[bytes], dtype: Any, start: int, shape: Sequence[int], by_column: bool = False) -> NDArray[Any]:
    """An array of an open file. Raises `ValueError` if the file ends before it."""
    if not math.prod(shape):
        return np.empty(shape, dtype)  # an empty array cannot be mapped
    return np.memmap(file, dtype, "r", start, tuple(shape), "F" if by_column else "C")


def _open_safetensors(path: Path, key: str, folder: Path, dimensions: int) -> Matrix:
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: needs safetensors, which is not installed. Install it with `pip install safetensors`, or write "
            "the array as npy."
        ) from None
    try:
        with safe_open(path, "np") as tensors:  # checks the header and the file's length
            chosen = _choose_name(list(tensors.keys()), key, path)
            kind = tensors.get_slice(chosen).get_dtype()
    except SafetensorError as error:
        raise ValueError(error) from error
    name = f"{path}, {chosen}"
    if kind not in _SAFETENSORS:
        raise InputError(f"{name}: expected {', '.join(_SAFETENSORS)}, found {kind}; write it as float32.")
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[chosen]
        start = 8 + length + entry["data_offsets"][0]
        return Matrix(name, _map_array(file, np.dtype(_SAFETENSORS[kind]), start, entry["shape"]))


def _open_parquet(path: Path, key: str, folder: Path, dimensions: int) -> Matrix:
    with pq.ParquetFile(path, memory_map=True) as file:
        columns = [field.name for field in file.schema_arrow if _is_list(field.type)]
        chosen = _choose_name(columns, key, path)
        _check_column_ratio(file, chosen, path)
        ids = _ids(file, _id_column(key), path)
        batches = (batch.column(0) for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[chosen]))
        name, rows = f"{path}, {chosen}", file.metadata.num_rows
        with tempfile.TemporaryFile(dir=folder) as unpacked:
            width, dtype = 0, np.dtype(np.float32)
            for number, batch in enumerate(batches):
                block = _stack_lists(batch, name, number * _ROWS_AT_ONCE, width if number else None)
                width, dtype = block.shape[1], block.dtype
                unpacked.write(block.tobytes())
            unpacked.flush()
            values = _map_array(unpacked, dtype, 0, (rows, width))
    return Matrix(name, values, ids)


def _check_column_ratio(file: pq.ParquetFile, column: str, path: Path) -> None:
    """Raises `InputError` for a column of lists that is a bomb: equal numbers take next to no room in Parquet."""
    kind = file.schema_arrow.field(column).type.value_type
    for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
        chunks = map(group.column, range(group.num_columns))
        chunk = next(one for one in chunks if one.path_in_schema.partition(".")[0] == column)
        check_ratio(path, column, chunk.total_compressed_size, chunk.num_values * kind.bit_width // 8)


def _ids(file: pq.ParquetFile, column: str, path: Path) -> NDArray[np.object_] | None:
    """The column with ids as text, if there is one. Raises `InputError` that names a row without an id."""
    if column not in file.schema_arrow.names:
        return None
    ids = file.read([column])[0]
    if ids.null_count:
        row = ids.is_null().to_numpy().argmax()
        raise InputError(f"{path}, row {row}: {column} is empty; write the id of the row.")
    found: NDArray[np.object_] = ids.to_numpy().astype(str).astype(object)
    return found


def _stack_lists(lists: pa.Array, name: str, first: int, width: int | None) -> NDArray[Any]:
    """Lists of one length as rows. Raises `InputError` that names the first row of another length."""
    lengths = np.asarray(lists.value_lengths().fill_null(-1)) if not pa.types.is_fixed_size_list(lists.type) else None
    if lengths is None:
        lengths = np.where(lists.is_valid(), lists.type.list_size, -1)
    expected = lengths[0] if width is None else width
    wrong = np.flatnonzero((lengths != expected) | (lengths < 0))
    if len(wrong) and lengths[wrong[0]] < 0:
        raise InputError(f"{name}: row {first + int(wrong[0])} is empty; complete it.")
    if len(wrong):
        row = first + int(wrong[0])
        raise InputError(f"{name}: row {row} has not the {expected} numbers of the first; complete it.")
    flat = lists.flatten()
    if flat.null_count:
        row = first + int(flat.is_null().to_numpy(zero_copy_only=False).argmax()) // int(expected)
        raise InputError(f"{name}: row {row} has a number that is null, as pandas writes NaN; complete it.")
    rows: NDArray[Any] = flat.to_numpy(zero_copy_only=False).reshape(len(lists), expected)
    return rows


def _is_list(kind: pa.DataType) -> bool:
    return any(of(kind) for of in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _id_column(key: str) -> str:
    """The column with the ids of the rows of a Parquet file."""
    return "caption_id" if key in ("sentences", "t2i") else "image_id"


def _choose_name(names: list[str], key: str, path: Path) -> str:
    """The only name, or the one that equals the key. Raises `InputError` if that is ambiguous."""
    if key in names or len(names) != 1:
        if key not in names:
            raise InputError(f"{path}: expected one array, or one called {key!r}, found {names}; name one so.")
        return key
    return names[0]


_READERS: dict[str, Callable[[Path, str, Path, int], Matrix]] = {
    ".npy": _open_npy,
    ".npz": _open_npz,
    ".parquet": _open_parquet,
    ".safetensors": _open_safetensors,
}


def read_row_ids(path: str | Path) -> list[str]:
    """The ids of a file, without the spaces around them.

    Raises `InputError` for a missing or empty file, a blank line before others, or a file that is not text in UTF-8.
    """
    try:
        lines = decode_text(Path(path).read_bytes(), str(path), "utf-8").rstrip().splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); write a file with an id in each line.") from error
    if not lines:
        raise InputError(f"{path}: there is no id; write a file with an id in each line.")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise InputError(f"{path}, line {number}: the line is blank; each line must hold the id of a row.")
    return [line.strip() for line in lines]

"""Files with features that were computed elsewhere: arrays, Parquet, and the TSV of bottom-up attention.

Files are read one image at a time, in any order, so that memory stays flat. docs/features.md describes the formats. No
format that can hold code is loaded (densevse/artifacts/matrices.py).
"""

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, Boxes, find_form_problems
from densevse.artifacts.file_names import compose_accents, is_hidden
from densevse.artifacts.matrices import Matrix, open_matrix, read_row_ids
from densevse.artifacts.vectors import find_wrong_vectors
from densevse.runtime.arrays import run_starts
from densevse.vision.boxes import corners_to_boxes
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.schema import check_rows

_FIELDS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
"""The fields of a line of bottom-up attention's TSV (Anderson et al., CVPR 2018)."""
_LXMERT = "img_id, img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes, features"
_TYPES = {"float32": "<f4", "float16": "<f2", "float64": "<f8"}


class GivenImage(NamedTuple):
    """The contents of a file for one image."""

    vectors: NDArray[Any]  # (R, D) for regions, (cells, D) for a grid, (D,) for a whole image
    boxes: Boxes | None = None  # (R, 4)
    scores: NDArray[np.float32] | None = None  # (R,)
    classes: Sequence[str] | None = None  # (R,)
    size: tuple[int, int] | None = None  # width and height of the image, pixels


class GivenFile(ABC):
    """A file with vectors of images, by image id."""

    repeated: ClassVar[str] = "remove one of them"
    """The advice at the end of the message about a repeated id."""

    def __init__(self, ids: Iterable[tuple[str, Any]], where: str) -> None:
        """`ids` are the ids in the file, each with its place. Raises `InputError` that names a repeated one."""
        self._places: dict[str, Any] = {}
        self.where = where
        for image_id, place in ids:
            if image_id in self._places:
                raise InputError(
                    f"image {image_id!r} occurs twice, at {self._describe_place(self._places[image_id])} and at "
                    f"{self._describe_place(place)}; {self.repeated}."
                )
            self._places[image_id] = place

    def check_ids(self, known: Iterable[str], needed: Iterable[str], pattern: str) -> None:
        """Raises `InputError` for one of the `needed` that the file lacks. Images that are not `known` are left out."""
        known = set(known)
        unknown = [image_id for image_id in self._places if image_id not in known]
        others = f"{len(unknown):,} ids are not of the data set, the first is {unknown[0]!r}" if unknown else ""
        missing = [image_id for image_id in needed if image_id not in self._places]
        if missing:
            raise InputError(
                f"{self.where}: {len(missing):,} images of the data set are missing, the first is {missing[0]!r}"
                f"{others and f', and {others}'}; add them or correct the ids: image_id turns ids of the file into "
                f"those of the data set, now by {pattern!r}."
            )
        if unknown:
            logger.warning("%s: %s; left out", self.where, others)

    def describe_regions(self, image_id: str, count: int) -> list[str]:
        """The places in words of the whole image and of its regions, `count` in all."""
        place = self._describe_place(self._places[image_id])
        return [f"{place}, region {region} of image {image_id!r}" for region in range(count)]

    def read(self, image_id: str, dtype: str) -> GivenImage:
        """An image's vectors. Raises `InputError` that names their place if they are not finite, or lost in `dtype`."""
        place = self._places[image_id]
        found, where = self._read(place), f"{self._describe_place(place)} (image {image_id!r})"
        if any(map(np.any, find_wrong_vectors(np.atleast_2d(found.vectors)).values())):
            raise InputError(f"{where}: a number is not finite; compute the vectors of this image again.")
        most = float(np.abs(found.vectors).max(initial=0))
        if most > float(np.finfo(dtype).max):
            raise InputError(f"{where}: {most:g} is too large for {dtype}; set the dtype of the features to float32.")
        if 0 < most < float(np.finfo(dtype).tiny):
            raise InputError(
                f"{where}: the largest number is {most:g}, and {dtype} loses digits of numbers so small; set the dtype "
                "of the features to float32, or multiply all features by one number."
            )
        return found

    @abstractmethod
    def _read(self, place: Any) -> GivenImage:
        """The image at a place."""

    @abstractmethod
    def _describe_place(self, place: Any) -> str:
        """A place in words for a message: the file, and the row or line."""


class ArrayFile(GivenFile):
    """Arrays (images, ...) with rows for known images, `copies` equal rows in succession for each."""

    def __init__(
        self,
        arrays: Sequence[tuple[Matrix, Sequence[str]]],
        boxes: NDArray[Any] | None = None,
        copies: int = 1,
        zeros: Literal["kept", "refused", "padding"] = "kept",
    ) -> None:
        """`arrays` come with the ids of their images; `boxes` (images, regions, 4) belong to a single array.

        `zeros` says what becomes of rows of an image that are zero, as such a layout has no count of its regions.
        """
        self._arrays, self._boxes, self._copies = [matrix for matrix, _ in arrays], boxes, copies
        self._zeros = zeros
        for matrix, ids in arrays:
            _check_rows(matrix, len(ids), copies)
        shape = (*self._arrays[0].values.shape[:2], 4)
        if boxes is not None and boxes.shape != shape:
            raise InputError(
                f"{self._arrays[0].name}: expected boxes of the shape {shape}, found {boxes.shape}; a box is left, "
                "top, right and bottom of a region."
            )
        super().__init__(
            (
                (image_id, (number, row * copies))
                for number, (_, ids) in enumerate(arrays)
                for row, image_id in enumerate(ids)
            ),
            ", ".join(matrix.name for matrix in self._arrays),
        )

    def _read(self, place: tuple[int, int]) -> GivenImage:
        number, row = place
        copies = self._arrays[number].values[row : row + self._copies]
        for other in range(1, self._copies):
            if not np.array_equal(copies[other], copies[0], equal_nan=True):
                raise InputError(
                    f"{self._arrays[number].name}: rows {row} and {row + other} must be copies of one image, and "
                    "differ; correct the file, or the option copies."
                )
        found = GivenImage(copies[0], None if self._boxes is None else corners_to_boxes(self._boxes[row]))
        return found if self._zeros == "kept" else self._drop_padding(found, place)

    def _drop_padding(self, image: GivenImage, place: tuple[int, int]) -> GivenImage:
        """The regions that are not zero. Raises `InputError` if all are, or others are not said to be padding."""
        there: NDArray[np.bool_] = (image.vectors != 0).any(axis=1)
        where = f"{self._describe_place(place)}: {(~there).sum():,} of {len(there):,} regions are zero"
        if not there.any():
            raise InputError(f"{where}; an image has at least one region: compute them, or leave the image out.")
        if there.all() or self._zeros == "padding":
            return GivenImage(image.vectors[there], None if image.boxes is None else image.boxes[there])
        raise InputError(
            f"{where}, the first is {int(there.argmin())}, counted from 0. If they fill up images of fewer regions, "
            "say so by padding: zeros, and they count nowhere; otherwise compute them again."
        )

    def _describe_place(self, place: tuple[int, int]) -> str:
        return f"{self._arrays[place[0]].name}, row {place[1]}"


def _check_rows(matrix: Matrix, images: int, copies: int) -> None:
    """Raises `InputError` if an array does not have the rows of its images, with the likely reason."""
    shape, expected = matrix.values.shape, images * copies
    if len(matrix.values) != expected:
        do = "turn it round" if expected in shape else "correct the file, its ids, or the option copies"
        raise InputError(
            f"{matrix.name}: expected {expected:,} rows, {copies} for each of {images:,} images, found the shape "
            f"{shape}; {do}."
        )


class TableFile(GivenFile):
    """A Parquet file with a row for each vector: image_id, vector, and for regions x, y, width, height and others."""

    repeated = "the rows of an image must follow each other: sort the file by image_id"

    def __init__(self, path: str, unpacked_in: str | Path, one_vector: bool, of_regions: bool, pattern: str) -> None:
        matrix = open_matrix(path, "vector", unpacked_in)
        if matrix.ids is None:
            raise InputError(f"{path}: no column image_id; add the id of each row's image.")
        named = set(pq.read_schema(path).names)
        columns = [name for name in (*BOX, "score", "class_name") if name in named] if of_regions else []
        lacking = set(BOX) - named if of_regions else set()
        if lacking:
            raise InputError(
                f"{path}: there is no column {min(lacking)}; a region has {', '.join(BOX)} in pixels. Regions without "
                "boxes can be given as an array."
            )
        self._values, self._one_vector = matrix.values, one_vector
        self._columns, self._ids = _read_region_columns(path, columns), _dataset_ids(matrix.ids, pattern)
        ids = matrix.ids
        begins = run_starts(ids)
        slices = map(slice, begins, [*begins[1:], len(ids)])
        super().__init__(zip(_dataset_ids(ids[begins], pattern), slices, strict=True), path)

    def check_form(self, images: pd.DataFrame) -> None:
        """Raises `InputError` for boxes in another form, which shows in those of all `images` (IMAGES rows)."""
        if BOX[0] in self._columns:
            boxes = self._columns[BOX].assign(image_id=self._ids)
            check_rows(boxes, find_form_problems(boxes, images), self.where)

    def _read(self, place: slice) -> GivenImage:
        vectors, columns = self._values[place], self._columns[place]
        if self._one_vector:
            if len(vectors) != 1:
                raise InputError(f"{self._describe_place(place)}: several rows for one whole image; leave one.")
            return GivenImage(vectors[0])
        boxes = columns[BOX].to_numpy(np.float32) if BOX[0] in columns else None
        scores = columns["score"].to_numpy(np.float32) if "score" in columns else None
        return GivenImage(vectors, boxes, scores, list(columns["class_name"]) if "class_name" in columns else None)

    def describe_regions(self, image_id: str, count: int) -> list[str]:
        """The rows of the whole image, which has none of its own, and of its regions."""
        first = self._places[image_id].start
        return [f"{self.where}, row {row} (image {image_id!r})" for row in range(first - 1, first - 1 + count)]

    def _describe_place(self, place: slice) -> str:
        return f"{self.where}, row {place.start}"


class ArrayFolder(GivenFile):
    """A folder with an array for each image, <image id>.npy: (regions, D), (cells, D) or (D,)."""

    repeated = "the option image_id makes one id of both"

    def __init__(self, path: str, dimensions: int, pattern: str) -> None:
        files = [file for file in list_files(path) if file.suffix.lower() == ".npy"]
        if not files or not Path(path).is_dir():
            raise InputError(f"{path}: no folder with files .npy in it; name the folder with an array for each image.")
        self._dimensions = dimensions
        super().__init__(zip(_dataset_ids([file.stem for file in files], pattern), files, strict=True), path)

    def _read(self, place: Path) -> GivenImage:
        return GivenImage(open_matrix(place, "vectors", place.parent, self._dimensions).values)

    def _describe_place(self, place: Path) -> str:
        return str(place)


class BottomUpFile(GivenFile):
    """The TSV of bottom-up attention: one line for each image, with any number of boxes, and arrays in base64.

    A folder has several such files.
    """

    def __init__(self, path: str, pattern: str) -> None:
        try:
            self._files = [open(file, "rb") for file in list_files(path)]  # noqa: SIM115, read for as long as this lives
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); name the TSV file.") from error
        super().__init__(self._lines(pattern), path)
        if self._places:
            self._check_type(next(iter(self._places.values())))

    def _check_type(self, place: "_Line") -> None:
        """Raises `InputError` if the first image's vectors are not float32: base64 does not say the type."""
        found = self._read(place).vectors
        dtype = likely_type(found.tobytes())
        if dtype != "float32":
            raise InputError(
                f"{self._describe_place(place)}: the features are {dtype}, which would be read as {found.shape[1]:,} "
                "numbers of float32; write np.float32(features) in base64."
            )

    def _lines(self, pattern: str) -> Iterator[tuple[str, "_Line"]]:
        """The id of each line that is not blank, with its place."""
        for file in self._files:
            begin = 0
            for number, line in enumerate(file, start=1):
                if line.strip():
                    (image_id,) = _dataset_ids([line.partition(b"\t")[0].decode("utf-8", "replace")], pattern)
                    yield image_id, _Line(file, number, begin)
                begin += len(line)

    def _read(self, place: "_Line") -> GivenImage:
        place.file.seek(place.begin)
        fields, where = place.file.readline().rstrip(b"\r\n").split(b"\t"), self._describe_place(place)
        if len(fields) != len(_FIELDS):
            why = "the file may be truncated: copy it again"
            if len(fields) == len(_LXMERT.split(", ")):
                why = f"LXMERT's files have {_LXMERT}: write the six in this order"
            raise InputError(
                f"{where}: expected the {len(_FIELDS)} fields {', '.join(_FIELDS)}, found {len(fields)}; {why}."
            )
        if fields[5].startswith((b"b'", b'b"')):
            raise InputError(f"{where}: an array is written as Python prints bytes, b'...'; write its text, .decode().")
        try:
            width, height, count = map(int, fields[1:4])
            boxes, values = (np.frombuffer(base64.b64decode(field, validate=True), "<f4") for field in fields[4:])
        except (ValueError, binascii.Error) as error:
            raise InputError(f"{where}: {error}; the file may be truncated: copy it again.") from error
        stored = next(
            (name for name, type_ in _TYPES.items() if boxes.nbytes == count * 4 * np.dtype(type_).itemsize), ""
        )
        if stored not in ("", "float32"):
            raise InputError(f"{where}: the boxes are {stored}, and perhaps the features; write both as float32.")
        if count < 1 or len(boxes) != count * 4 or not len(values) or len(values) % count:
            raise InputError(
                f"{where}: num_boxes is {count}, but there are {len(boxes):,} numbers of boxes and {len(values):,} of "
                "features; copy the file again."
            )
        return GivenImage(values.reshape(count, -1), corners_to_boxes(boxes.reshape(count, 4)), size=(width, height))

    def _describe_place(self, place: "_Line") -> str:
        return f"{place.file.name}, line {place.number}"


class _Line(NamedTuple):
    """A line of a file: its number from 1, and its first byte."""

    file: BinaryIO
    number: int
    begin: int


def list_files(path: str) -> list[Path]:
    """The file at a path; or those in it, by name, if it is a folder. Hidden files do not count."""
    if not Path(path).is_dir():
        return [Path(path)]
    return sorted(file for file in Path(path).iterdir() if file.is_file() and not is_hidden(file.name))


def likely_type(data: bytes) -> str:
    """The type of floats in an array's bytes: float32, float16 or float64, whichever gives the narrowest magnitudes.

    Bytes of another type have magnitudes far apart, as bits of digits stand in the place of the exponent.
    """
    sizes = {name: np.dtype(type_) for name, type_ in _TYPES.items() if not len(data) % np.dtype(type_).itemsize}
    spread = {name: _spread(np.frombuffer(data, dtype)) for name, dtype in sizes.items()}
    return min(spread, key=lambda name: spread[name])  # the first of equal ones


def _spread(numbers: NDArray[Any]) -> float:
    """The base-2 logarithm of the ratio of large to small magnitudes (95th to 5th percentile).

    It is infinite if a number is not finite. It also is if the numbers at even places are all 0 and others are not, as
    these are the lower halves of rounded numbers of a wider type.
    """
    halves = np.abs(numbers[: len(numbers) // 2 * 2].reshape(-1, 2)).max(axis=0, initial=0)
    if not np.isfinite(numbers).all() or (halves[0] == 0 and halves[1] > 0):
        return float("inf")
    magnitudes = np.log2(np.abs(numbers[numbers != 0], dtype=np.float64))
    return float(np.subtract(*np.quantile(magnitudes, (0.95, 0.05)))) if len(magnitudes) else 0.0


def _read_region_columns(path: str, columns: list[str]) -> pd.DataFrame:
    """The columns of regions; a region without a score has an infinite one, and one without a class an empty one.

    Raises `InputError` that names a column without numbers.
    """
    try:
        found: pd.DataFrame = pq.read_table(path, columns=columns).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a whole parquet file ({error}); write or copy it again.") from error
    for name in found.columns.intersection([*BOX, "score"]):
        if not pd.api.types.is_numeric_dtype(found[name]):
            raise InputError(f"{path}: the column {name} holds {found[name].dtype}; write it as numbers.")
    if "score" in found:
        found["score"] = found["score"].fillna(np.inf)
    if "class_name" in found:
        found["class_name"] = found["class_name"].map(str, na_action="ignore").fillna("")
    return found


def read_ids(path: str, pattern: str) -> list[str]:
    """The data set's ids for those in a text file. Raises `InputError` as `read_row_ids` does."""
    return _dataset_ids(read_row_ids(path), pattern)


def _dataset_ids(ids: Iterable[str], pattern: str) -> list[str]:
    """The data set's ids for the ids in a file, or those of files, which a Mac writes with accents apart."""
    return [compose_accents(pattern.replace("{id}", image_id)) for image_id in ids]

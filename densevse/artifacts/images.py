"""Reads all images: bytes from folders and archives, and upright RGB pixels from bytes."""

import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from densevse.artifacts.archives import Archive
from densevse.runtime.project import describe_installation
from snakeproof.errors import InputError

FORMATS = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"),
    "PNG": (".png", ".apng"),
    "GIF": (".gif",),
    "BMP": (".bmp",),
    "TIFF": (".tif", ".tiff"),
    "WEBP": (".webp",),
    "PPM": (".ppm", ".pgm", ".pbm", ".pnm", ".pfm"),
    "AVIF": (".avif", ".avifs"),
}
"""Supported formats with the suffixes of their files. Pillow knows more, some of which start programs."""

HEIC = (".heic", ".heics", ".heif", ".heifs", ".hif") if find_spec("pillow_heif") else ()
"""The suffixes of photographs of phones, which the extra `heic` reads; none without it."""

HEIC_BRANDS = frozenset((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"))
"""The brands at the beginning of such a file."""

SUFFIXES = frozenset(suffix for suffixes in (*FORMATS.values(), HEIC) for suffix in suffixes)

LARGEST_IMAGE = 89_478_485
"""Pixels. A larger image is treated as a bomb (Pillow's own limit, which only warns there)."""

LONGEST_SIDE = 100
"""The largest ratio of two sides. A longer image is no photograph: a network's input would stretch one line of it."""

PNG = b"\x89PNG\r\n\x1a\n"
"""The first bytes of a PNG."""

ORIENTATION = 0x0112
WITH_ORIENTATION = (b"XML:com.adobe.xmp\0", b"Raw profile type exif\0")
"""The beginnings of a PNG's texts that may have an orientation."""
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""The operation that turns an image upright, by EXIF orientation."""

SIDEWAYS = (5, 6, 7, 8)
"""The EXIF orientations that swap width and height."""


GREY_BEYOND_8_BITS = ("F", "I", "I;16", "I;16B", "I;16L")
"""Pillow's modes of real numbers and of integers."""

WHITE_OF_16_BITS = 2**16 - 1

BITS, PHOTOMETRIC, SAMPLE_FORMAT = 258, 262, 339
"""Tags of a TIFF."""
WHITE_IS_ZERO, SIGNED = 0, 2
"""Values of the second and of the third tag."""


class ImageFacts(NamedTuple):
    """The properties of a decoded image."""

    width: int
    height: int
    sha256: str


class ImageFiles:
    """The image files of a data set, read from its sources (each a folder, zip or tar).

    Sources are opened on first use. Threads may share the object, and it can be sent to worker processes.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = dict(sources)
        self._open: dict[str, Archive] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["ImageFiles"], tuple[Any, ...]]:
        return ImageFiles, (self.sources,)

    def read(self, source: str, file: str) -> bytes:
        """The bytes of `file` (a path inside `source`). Raises `InputError` that names what is missing or damaged."""
        return self.archive(source).read(file)

    def archive(self, source: str) -> Archive:
        """The open folder, zip or tar of that name."""
        with self._lock:
            if source not in self._open:
                if source not in self.sources:
                    raise InputError(f"the data set has no source {source!r}; it has {sorted(self.sources)}.")
                self._open[source] = Archive.open(self.sources[source])
            return self._open[source]


class Photographs(ImageFiles):
    """The images of an image table, read from the files of its data set, which must still be those of the table."""

    def __init__(self, sources: Mapping[str, str], images: pd.DataFrame) -> None:
        """`images` has the columns source, file and sha256 of the table; the last is empty where it is not known."""
        super().__init__(sources)
        self._images = images[["source", "file", "sha256"]]
        self._sha256 = {(source, file): sha256 for source, file, sha256 in self._images.itertuples(index=False)}

    def __reduce__(self) -> tuple[type["ImageFiles"], tuple[Any, ...]]:
        return Photographs, (self.sources, self._images)

    def pixels(self, source: str, file: str) -> NDArray[np.uint8]:
        """The pixels of a file by `decode`.

        Raises `InputError` as `read` and `decode` do, or if its bytes are not those from which the table was made.
        """
        data, expected = self.read(source, file), self._sha256[source, file]
        if expected and hashlib.sha256(data).hexdigest() != expected:
            raise InputError(
                f"{source}: {file}: not the file that the image table describes; it changed since, or two projects "
                "write these results. Run snakemake again, in one project."
            )
        return decode(data, f"{source}: {file}")


def decode(data: bytes, name: str) -> NDArray[np.uint8]:
    """Decodes an image file to pixels (height, width, 3): RGB, upright by its EXIF orientation.

    Grey, palette, CMYK and Lab become RGB, 16 bits and real numbers become 8 bits, and transparent parts get a white
    background. Raises `InputError` with `name` if the bytes are not a whole image in one of `FORMATS`, or if more than
    8 bits have values in less than a tenth of their range.
    """
    with _open_image(data, name) as image:
        return _pixels(image)


def image_pixels(image: Image.Image, name: str) -> NDArray[np.uint8]:
    """The pixels of an image that Pillow has opened or made, as `decode` returns those of a file.

    Raises `InputError` with `name` for an image that `decode` would refuse.
    """
    _check_size(image, name)
    try:
        return _pixels(image)
    except Exception as error:  # a file behind the image may be damaged
        raise InputError(f"{name}: not a readable image ({error}).") from error


def _pixels(image: Image.Image) -> NDArray[np.uint8]:
    deep = _has_deep_colours(image)
    image.load()  # before its orientation is read, as Pillow itself turns a TIFF upright here
    turn = UPRIGHT.get(_orientation(image))
    rgb = _rgb(image, deep)
    return np.asarray(rgb if turn is None else rgb.transpose(turn))


def examine(data: bytes, name: str) -> ImageFacts:
    """Decodes an image to check that it is whole, at an eighth of its size if its format makes that cheaper.

    The returned size is that of `decode`'s pixels. Raises `InputError` as `decode` does.
    """
    with _open_image(data, name) as image:
        whole = image.size
        reduced, deep = image.draft("RGB", (1, 1)) is not None, _has_deep_colours(image)
        image.load()
        width, height = whole if reduced else image.size
        sideways = _orientation(image) in SIDEWAYS
        _rgb(image, deep)
    if sideways:
        width, height = height, width
    return ImageFacts(width, height, hashlib.sha256(data).hexdigest())


def orientation(data: bytes, name: str) -> int:
    """The EXIF orientation by which `decode` turns the stored pixels upright, from 1 (as they are) to 8.

    Raises `InputError` as `decode` does if the bytes are no image.
    """
    with _open_image(data, name) as image:
        found = _orientation(image)
    return found if found in UPRIGHT else 1


@contextmanager
def _open_image(data: bytes, name: str) -> Iterator[Image.Image]:
    try:
        with Image.open(io.BytesIO(_drop_texts(data)), formats=_formats(data, name)) as image:
            _check_size(image, name)
            if image.format == "PNG":
                _scale_transparent_colour(image, bits=data[24])  # of the header
            yield image
    except InputError:
        raise
    except UnidentifiedImageError:  # Pillow's message contains a memory address
        raise InputError(f"{name}: not an image, or of a format other than {', '.join(FORMATS)}.") from None
    except Exception as error:  # Pillow's decoders raise all kinds of exceptions for damaged bytes
        raise InputError(f"{name}: not a readable image ({error}).") from error


def _drop_texts(data: bytes) -> bytes:
    """The bytes without a PNG's texts, profile and damaged parts, which Pillow would read, but for orientations."""
    if not data.startswith(PNG):
        return data
    kept, place = [PNG], len(PNG)
    while place < len(data):
        chunk = data[place : place + 12 + int.from_bytes(data[place : place + 4], "big")]
        kind, content, stated = chunk[4:8], chunk[8:-4], chunk[-4:]
        is_text = kind in (b"tEXt", b"zTXt", b"iTXt", b"iCCP") and not content.startswith(WITH_ORIENTATION)
        optional = kind[:1].islower() and kind != b"tRNS"  # and so are no pixels
        if not (is_text or (optional and zlib.crc32(chunk[4:-4]) != int.from_bytes(stated, "big"))):
            kept.append(chunk)
        place += max(len(chunk), 12)
    return b"".join(kept)


def _formats(data: bytes, name: str) -> tuple[str, ...]:
    """Pillow's formats that a file may have. Raises `InputError` for HEIC if its reader is not installed."""
    size, begins = int.from_bytes(data[:4], "big"), data[4:8]
    brands = {data[place : place + 4] for place in range(8, min(size, 256), 4)}
    if begins != b"ftyp" or not brands & HEIC_BRANDS:
        return tuple(FORMATS)
    if not HEIC:
        raise InputError(
            f"{name}: a HEIC photograph, whose reader is not installed. Convert the photograph to JPEG, or install the "
            f"reader: {describe_installation('pillow_heif', 'heic')}"
        )
    import pillow_heif

    pillow_heif.register_heif_opener()
    return ("HEIF",)


def _check_size(image: Image.Image, name: str) -> None:
    if image.width * image.height > LARGEST_IMAGE:
        raise InputError(f"{name}: {image.width} x {image.height} pixels are refused; at most {LARGEST_IMAGE:,}.")
    if max(image.size) > LONGEST_SIDE * min(image.size):
        raise InputError(
            f"{name}: {image.width} x {image.height} pixels are no photograph; one side may be at most "
            f"{LONGEST_SIDE} times the other."
        )


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # with damaged EXIF data the pixels may still be whole
        return 1


def _has_deep_colours(image: Image.Image) -> bool:
    """True if Pillow will convert colours of more than 8 bits to 8 as it loads an image."""
    stored = [tile.args if isinstance(tile.args, tuple) else (tile.args,) for tile in getattr(image, "tile", ())]
    of_ppm = image.format == "PPM" and any(isinstance(args[-1], int) and args[-1] > 255 for args in stored)
    return of_ppm or any(str(args[0]).endswith((";16B", ";16L", ";16N")) for args in stored if args)


def _rgb(image: Image.Image, deep: bool) -> Image.Image:
    tags = getattr(image, "tag_v2", {})
    if image.mode == "L" and SIGNED in tags.get(SAMPLE_FORMAT, ()):
        raise ValueError("its grey values have signs")  # Pillow ignores the sign
    if image.mode in GREY_BEYOND_8_BITS:
        values = np.asarray(image, dtype=np.float32)
        grey = _reals(values) if image.mode == "F" else _integers(values, tags.get(BITS, (16,))[0])
        if grey.any():  # zeros alone are black in any range
            _check_range(grey)
        grey = np.where(values == image.info.get("transparency"), np.float32(255), grey)
        grey = 255 - grey if tags.get(PHOTOMETRIC) == WHITE_IS_ZERO else grey  # 8 bits, as Pillow guarantees
        return Image.fromarray(grey.round().astype(np.uint8)).convert("RGB")
    if deep:
        _check_range(np.asarray(image.convert("RGB")))
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), transparent).convert("RGB")
    return image.convert("RGB")


def _check_range(values: NDArray[Any]) -> None:
    """Raises `ValueError` if values up to 255, which were more than 8 bits, lie too close together."""
    if np.ptp(values) < 25.5:  # of colours, Pillow gives the upper 8 of 16 bits, which may be zeros
        raise ValueError(
            "its values have more than 8 bits and fill less than a tenth of their range, so that its white is not "
            "known; scale them to the range, or write 8 bits"
        )


def _integers(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Grey values up to 255 from integers, which are scaled; Pillow would clip them.

    Integers of more than 16 bits are assumed to reach 65535. Raises `ValueError` if one is larger or negative.
    """
    if not (values.min() >= 0 and values.max() <= WHITE_OF_16_BITS):
        raise ValueError(f"its grey values are not all between 0 and {WHITE_OF_16_BITS}")
    white = min(2**bits - 1, WHITE_OF_16_BITS)
    return values / np.float32(white / 255)


def _reals(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Grey values from reals up to 1, or else up to 255. Raises `ValueError` if they exceed that or are not finite."""
    if not (np.isfinite(grey).all() and grey.min() >= 0 and grey.max() <= 255):
        raise ValueError("its real values are not all between 0 and 255")
    return grey * np.float32(255 if grey.max() <= 1 else 1)


def _scale_transparent_colour(image: Image.Image, bits: int) -> None:
    """Converts the transparent colour of a PNG to 8 bits, as its pixels are; Pillow leaves it in the file's depth."""
    colour = image.info.get("transparency")
    if colour is not None and image.mode == "L":
        image.info["transparency"] = colour * 255 // (2**bits - 1)
    if colour is not None and image.mode == "RGB" and bits == 16:
        image.info["transparency"] = tuple(part >> 8 for part in colour)

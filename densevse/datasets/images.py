"""The one reader of image bytes: out of folders and archives, and from bytes to upright RGB pixels."""

import hashlib
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from densevse.datasets.archives import Archive as ImageSource
from densevse.runtime.errors import InputError

__all__ = ["ImageFacts", "ImageFiles", "ImageSource", "decode", "examine", "orientation"]

FORMATS = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"),
    "PNG": (".png", ".apng"),
    "GIF": (".gif",),
    "BMP": (".bmp",),
    "TIFF": (".tif", ".tiff"),
    "WEBP": (".webp",),
    "PPM": (".ppm", ".pgm", ".pbm", ".pnm", ".pfm"),
}
"""Formats that are decoded here, with the suffixes of their files; Pillow knows more, some of which start programs."""

SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)

LARGEST_IMAGE = 89_478_485
"""Pixels. A larger one is taken for a bomb (Pillow's own limit, which there is only a warning)."""

LONGEST_SIDE = 100
"""Times the other one. What is longer is no photograph; a network's input would stretch a line of it over the whole."""

ORIENTATION = 0x0112
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""EXIF orientation -> what sets the image upright."""

SIDEWAYS = (5, 6, 7, 8)
"""The EXIF orientations that swap width and height."""


GREY_BEYOND_8_BITS = ("F", "I", "I;16", "I;16B", "I;16L")
"""Pillow's modes of real and of whole numbers."""

WHITE_OF_16_BITS = 2**16 - 1

BITS, PHOTOMETRIC, SAMPLE_FORMAT = 258, 262, 339
"""Tags of a TIFF."""
WHITE_IS_ZERO, SIGNED = 0, 2
"""Values of the second and of the third."""


class ImageFacts(NamedTuple):
    """What is known of an image that decodes."""

    width: int
    height: int
    sha256: str


class ImageFiles:
    """The image files of a data set: the bytes of a file in one of its sources (a folder, zip or tar each).

    Sources are opened when first needed. Threads may share one; it can be sent to worker processes.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = dict(sources)
        self._open: dict[str, ImageSource] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["ImageFiles"], tuple[dict[str, str]]]:
        return ImageFiles, (self.sources,)

    def read(self, source: str, file: str) -> bytes:
        """The bytes of `file` (its path inside `source`). Raises `InputError` naming what is missing or damaged."""
        return self.archive(source).read(file)

    def pixels(self, source: str, file: str) -> NDArray[np.uint8]:
        """The pixels of that file, as `decode` gives them. Raises `InputError` as `read` and `decode` do."""
        return decode(self.read(source, file), f"{source}: {file}")

    def archive(self, source: str) -> ImageSource:
        """The open folder, zip or tar of that name."""
        with self._lock:
            if source not in self._open:
                if source not in self.sources:
                    raise InputError(f"the data set has no source {source!r}; it has {sorted(self.sources)}.")
                self._open[source] = ImageSource.open(self.sources[source])
            return self._open[source]


def decode(data: bytes, name: str) -> NDArray[np.uint8]:
    """Pixels (height, width, 3) of an image file: RGB, upright by its EXIF orientation.

    Grey, palette, CMYK and Lab become RGB, 16 bits and real numbers become 8 bits, what is transparent is laid upon
    white. Raises `InputError` with `name` if the bytes are no whole image in one of `FORMATS`.
    """
    with _opened(data, name) as image:
        image.load()  # before its orientation is asked: Pillow itself sets a TIFF upright here
        turn = UPRIGHT.get(_orientation(image))
        rgb = _rgb(image)
        return np.asarray(rgb if turn is None else rgb.transpose(turn))


def examine(data: bytes, name: str) -> ImageFacts:
    """Decode an image to see that it is whole, at an eighth of its size where its format can do so at less cost.

    Size is that of `decode`'s pixels. Raises `InputError` as `decode` does.
    """
    with _opened(data, name) as image:
        whole = image.size
        reduced = image.draft("RGB", (1, 1)) is not None
        image.load()
        width, height = whole if reduced else image.size
        sideways = _orientation(image) in SIDEWAYS
        _rgb(image)
    if sideways:
        width, height = height, width
    return ImageFacts(width, height, hashlib.sha256(data).hexdigest())


def orientation(data: bytes, name: str) -> int:
    """The EXIF orientation by which `decode` sets the stored pixels upright, from 1 (as they are) to 8.

    Raises `InputError` as `decode` does where the bytes are no image.
    """
    with _opened(data, name) as image:
        found = _orientation(image)
    return found if found in UPRIGHT else 1


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[Image.Image]:
    try:
        with Image.open(io.BytesIO(data), formats=tuple(FORMATS)) as image:
            _check_size(image, name)
            if image.format == "PNG":
                _scale_transparent_colour(image, bits=data[24])  # of the header
            yield image
    except InputError:
        raise
    except UnidentifiedImageError:  # whose own message holds a memory address
        raise InputError(f"{name}: not an image, or of a format other than {', '.join(FORMATS)}.") from None
    except Exception as error:  # Pillow's decoders answer damaged bytes with errors of every kind
        raise InputError(f"{name}: not a readable image ({error}).") from error


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
    except Exception:  # damaged EXIF data says nothing about the pixels, which may be whole
        return 1


def _rgb(image: Image.Image) -> Image.Image:
    tags = getattr(image, "tag_v2", {})
    if image.mode == "L" and SIGNED in tags.get(SAMPLE_FORMAT, ()):
        raise ValueError("its grey values have signs")  # which Pillow overlooks
    if image.mode in GREY_BEYOND_8_BITS:
        grey = _reals(np.asarray(image)) if image.mode == "F" else _integers(image, tags.get(BITS, (16,))[0])
        grey = 255 - grey if tags.get(PHOTOMETRIC) == WHITE_IS_ZERO else grey  # of 8 bits, Pillow sees to it
        return Image.fromarray(grey.round().astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), transparent).convert("RGB")
    return image.convert("RGB")


def _integers(image: Image.Image, bits: int) -> NDArray[np.float32]:
    """Grey values up to 255 of whole numbers. Pillow would cut them off instead of scaling them.

    Numbers of more than 16 bits are taken to go to 65535 as well. Raises `ValueError` if one is beyond, or negative.
    """
    values = np.asarray(image, dtype=np.float32)
    if not (values.min() >= 0 and values.max() <= WHITE_OF_16_BITS):
        raise ValueError(f"its grey values are not all between 0 and {WHITE_OF_16_BITS}")
    white = min(2**bits - 1, WHITE_OF_16_BITS)
    return np.where(values == image.info.get("transparency"), np.float32(255), values / (white / 255))


def _reals(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Grey values that go from 0 to 1, or else from 0 to 255. Raises `ValueError` if they go beyond, or are none."""
    if not (np.isfinite(grey).all() and grey.min() >= 0 and grey.max() <= 255):
        raise ValueError("its real values are not all between 0 and 255")
    return grey * np.float32(255 if grey.max() <= 1 else 1)


def _scale_transparent_colour(image: Image.Image, bits: int) -> None:
    """Give the transparent colour of a PNG in 8 bits, as Pillow gives pixels; Pillow leaves it in the file's own."""
    colour = image.info.get("transparency")
    if colour is not None and image.mode == "L":
        image.info["transparency"] = colour * 255 // (2**bits - 1)
    if colour is not None and image.mode == "RGB" and bits == 16:
        image.info["transparency"] = tuple(part >> 8 for part in colour)

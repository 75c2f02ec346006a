"""Converts Caffe's weights of R-CNN (ILSVRC13) to safetensors for `densevse.vision.architectures.rcnn.RCNN`.

A Caffe file is a protocol buffer, a `NetParameter`. A message of that format is a sequence of fields, each with a
number and a value: an integer, 4 or 8 bytes, or bytes preceded by their length, e.g. another message. Only weights are
read.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.seals import sealed_file
from snakeproof.statements import statement_metadata

CONVOLUTIONS = {  # name: (channels in, channels out, kernel, stride, padding, groups)
    "conv1": (3, 96, 11, 4, 0, 1),
    "conv2": (96, 256, 5, 1, 2, 2),
    "conv3": (256, 384, 3, 1, 1, 1),
    "conv4": (384, 384, 3, 1, 1, 2),
    "conv5": (384, 256, 3, 1, 1, 2),
}

_NAME_AND_BLOBS = {100: (1, 7), 2: (4, 6)}
"""Fields of a network that hold a layer (`layer`; `layers` in files before 2015), with its fields for name and blobs.
"""
_DATA, _SHAPE, _DIMENSIONS = 5, 7, 1
"""Fields of a blob: values in float32, and its shape, whose field `dim` holds the sizes."""
_OLD_SIZES = (1, 2, 3, 4)
"""Fields of a blob in files without shapes: num, channels, height, width."""
_NUMBER, _BYTES, _FIXED = 0, 2, {1: 8, 5: 4}
"""Kinds of values; those of fixed length with their bytes."""


class _DamagedError(Exception):
    """The bytes are not a message of the format."""


def convert_caffemodel(caffemodel: str | Path, output: str | Path, hidden: int = 4096, classes: int = 200) -> None:
    """The job that converts the weights of a Caffe file, and writes them under the names of `RCNN`.

    Caffe's images are BGR; the first layer's channels are reversed, so that the network reads RGB like the others.
    Raises `InputError` if the file is not this network's.
    """
    weights = _read_weights(caffemodel, hidden, classes)
    weights["features.conv1.weight"] = np.ascontiguousarray(weights["features.conv1.weight"][:, ::-1])
    with sealed_file(output) as temporary:
        save_file(weights, temporary, statement_metadata(sha256=checksum(caffemodel)))


def read_blobs(caffemodel: str | Path) -> dict[str, list[NDArray[np.float32]]]:
    """The weights of a Caffe file, as each layer's blobs with their shapes.

    Raises `InputError` if the file is truncated or of another format.
    """
    try:
        return dict(_layers(memoryview(Path(caffemodel).read_bytes())))
    except _DamagedError as error:
        raise InputError(
            f"{caffemodel}: not a whole Caffe file ({error}); obtain it again, or name converted weights "
            "(.safetensors) as `local` of the network."
        ) from None


def _read_weights(caffemodel: str | Path, hidden: int, classes: int) -> dict[str, NDArray[np.float32]]:
    found = read_blobs(caffemodel)
    blobs = {
        f"{ours}.{kind}": blob
        for theirs, ours in _names().items()
        for kind, blob in zip(("weight", "bias"), found.get(theirs, ()), strict=False)
    }
    shapes = _shapes(hidden, classes)
    wrong = [f"{name} {blob.shape}" for name, blob in blobs.items() if blob.size != math.prod(shapes[name])]
    wrong += [f"{name} is missing" for name in shapes if name not in blobs]
    if wrong:
        raise InputError(f"{caffemodel}: not the weights of R-CNN ILSVRC13: {', '.join(wrong)}.")
    return {name: blob.reshape(shapes[name]) for name, blob in blobs.items()}


def _layers(network: memoryview) -> Iterator[tuple[str, list[NDArray[np.float32]]]]:
    """The layers of a network that have weights."""
    for number, layer in _fields(network):
        if number in _NAME_AND_BLOBS:
            of_name, of_blobs = _NAME_AND_BLOBS[number]
            parts = [(part, value) for part, value in _fields(_message(layer))]
            blobs = [_blob(_message(value)) for part, value in parts if part == of_blobs]
            names = [bytes(_message(value)).decode("utf-8", "replace") for part, value in parts if part == of_name]
            if blobs:
                yield "".join(names), blobs


def _blob(message: memoryview) -> NDArray[np.float32]:
    data, old, shape = list[memoryview](), dict[int, int](), None
    for number, value in _fields(message):
        if number == _DATA:
            data.append(_message(value))
        elif number == _SHAPE:
            shape = tuple(_sizes(_message(value)))
        elif number in _OLD_SIZES and isinstance(value, int):
            old[number] = value
    packed = b"".join(data)
    values = np.frombuffer(packed, "<f4", count=len(packed) // 4)
    sizes = tuple(old.get(number, 1) for number in _OLD_SIZES) if shape is None else shape
    if len(packed) != 4 * math.prod(sizes):
        raise _DamagedError(f"{len(packed)} bytes for a blob of {sizes}")
    return values.reshape(sizes)


def _sizes(shape: memoryview) -> Iterator[int]:
    """The sizes of a blob, which may be packed into one field."""
    for number, value in _fields(shape):
        if number == _DIMENSIONS and isinstance(value, int):
            yield value
        elif number == _DIMENSIONS:
            position, packed = 0, _message(value)
            while position < len(packed):
                size, position = _whole_number(packed, position)
                yield size


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise _DamagedError("a number where a message is expected")
    return value


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yields the fields of a message with their numbers, in order."""
    position = 0
    while position < len(message):
        key, position = _whole_number(message, position)
        number, kind = key >> 3, key & 7
        if kind == _NUMBER:
            value, position = _whole_number(message, position)
            yield number, value
            continue
        if kind == _BYTES:
            length, position = _whole_number(message, position)
        elif kind in _FIXED:
            length = _FIXED[kind]
        else:
            raise _DamagedError(f"a field of the unknown kind {kind}")
        if position + length > len(message):
            raise _DamagedError(f"a field of {length:,} bytes ends beyond the file or the message around it")
        yield number, message[position : position + length]
        position += length


def _whole_number(message: memoryview, position: int) -> tuple[int, int]:
    """The integer that starts at a byte, and the byte after it: 7 bits in each byte, lowest first."""
    number = 0
    for shift, byte in enumerate(message[position : position + 10]):
        number |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return number, position + shift + 1
    raise _DamagedError("a number without end")


def _names() -> dict[str, str]:
    """The names in `RCNN` of Caffe's layers with weights."""
    linear = {"fc6": "classifier.fc6", "fc7": "classifier.fc7", "fc-rcnn": "classifier.fc_rcnn"}
    return {name: f"features.{name}" for name in CONVOLUTIONS} | linear


def _shapes(hidden: int, classes: int) -> dict[str, tuple[int, ...]]:
    weights: dict[str, tuple[int, ...]] = {
        f"features.{name}": (channels_out, channels_in // groups, kernel, kernel)
        for name, (channels_in, channels_out, kernel, _, _, groups) in CONVOLUTIONS.items()
    }
    weights |= {"classifier.fc6": (hidden, 256 * 6 * 6), "classifier.fc7": (hidden, hidden)}
    weights |= {"classifier.fc_rcnn": (classes, hidden)}
    return {f"{name}.weight": shape for name, shape in weights.items()} | {
        f"{name}.bias": shape[:1] for name, shape in weights.items()
    }

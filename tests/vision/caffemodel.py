"""A minimal writer of Caffe's weights file (a NetParameter protocol buffer), for tests."""

import struct

import numpy as np


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _blob(values: np.ndarray) -> bytes:
    shape = b"".join(_varint(size) for size in values.shape)
    return _field(7, _field(1, shape)) + _field(5, struct.pack(f"<{values.size}f", *values.ravel()))


def caffemodel(layers: dict[str, tuple[str, list[np.ndarray]]]) -> bytes:
    """The bytes of a .caffemodel: layer name -> (its type, its blobs)."""
    network = _field(1, b"test")
    for name, (kind, blobs) in layers.items():
        parts = [_field(1, name.encode()), _field(2, kind.encode()), *(_field(7, _blob(blob)) for blob in blobs)]
        network += _field(100, b"".join(parts))
    return network

"""A minimal writer of Caffe's weights file (a NetParameter protocol buffer) and of its description, for tests."""

import struct

import numpy as np

from densevse.vision.caffe import CONVOLUTIONS

POOLED = ("conv1", "conv2", "conv5")
NORMALISED = ("conv1", "conv2")
POOLING = "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"
NORMALISATION = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"
OLD_KINDS = {"Convolution": 4, "InnerProduct": 14}
"""Caffe's numbers of kinds of layers, in files of before 2015."""


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


def _old_blob(values: np.ndarray) -> bytes:
    sizes = (1,) * (4 - values.ndim) + values.shape
    numbers = b"".join(_varint(number << 3) + _varint(size) for number, size in enumerate(sizes, start=1))
    return numbers + b"".join(_varint(5 << 3 | 5) + struct.pack("<f", value) for value in values.ravel())


def caffemodel(layers: dict[str, tuple[str, list[np.ndarray]]]) -> bytes:
    """The bytes of a .caffemodel: layer name -> (its type, its blobs)."""
    network = _field(1, b"test")
    for name, (kind, blobs) in layers.items():
        parts = [_field(1, name.encode()), _field(2, kind.encode()), *(_field(7, _blob(blob)) for blob in blobs)]
        network += _field(100, b"".join(parts))
    return network


def old_caffemodel(layers: dict[str, tuple[str, list[np.ndarray]]]) -> bytes:
    """The same as it was written before 2015, when blobs had four sizes; here with one field for each value."""
    network = _field(1, b"test")
    for name, (kind, blobs) in layers.items():
        of_kind = _varint(5 << 3) + _varint(OLD_KINDS[kind])
        parts = [_field(4, name.encode()), of_kind, *(_field(6, _old_blob(blob)) for blob in blobs)]
        network += _field(2, b"".join(parts))
    return network


def prototxt(hidden: int = 4096, classes: int = 200) -> str:
    """The network's description in Caffe's format, with its published sizes by default."""
    layers, bottom = [], "data"
    for name, (_, channels, kernel, stride, padding, groups) in CONVOLUTIONS.items():
        number = name.removeprefix("conv")
        sizes = f"num_output: {channels} kernel_size: {kernel} stride: {stride} pad: {padding} group: {groups}"
        layers.append(_layer(name, "Convolution", bottom, name, f"convolution_param {{ {sizes} }}"))
        layers.append(_layer(f"relu{number}", "ReLU", name, name))
        bottom = name
        if name in POOLED:
            layers.append(_layer(f"pool{number}", "Pooling", bottom, f"pool{number}", POOLING))
            bottom = f"pool{number}"
        if name in NORMALISED:
            layers.append(_layer(f"norm{number}", "LRN", bottom, f"norm{number}", NORMALISATION))
            bottom = f"norm{number}"
    for name, outputs in {"fc6": hidden, "fc7": hidden, "fc-rcnn": classes}.items():
        sizes = f"inner_product_param {{ num_output: {outputs} }}"
        layers.append(_layer(name, "InnerProduct", bottom, name, sizes))
        if name != "fc-rcnn":
            layers.append(_layer(name.replace("fc", "relu"), "ReLU", name, name))
        bottom = name
    inputs = 'name: "R-CNN-ilsvrc13"\ninput: "data"\ninput_shape { dim: 1 dim: 3 dim: 227 dim: 227 }'
    return "\n".join([inputs, *layers]) + "\n"


def _layer(name: str, kind: str, bottom: str, top: str, parameters: str = "") -> str:
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {parameters} }}'

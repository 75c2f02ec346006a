"""Caffe's weights of R-CNN (ILSVRC13) as safetensors that `densevse.vision.architectures.rcnn.RCNN` loads.

OpenCV reads the Caffe file; the network's description, which Caffe keeps apart from the weights, is `prototxt`.
"""

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from densevse.artifacts.files import atomic, checksum
from densevse.artifacts.lineage import lineage, metadata
from densevse.runtime.errors import InputError

CONVOLUTIONS = {  # name: (channels in, channels out, kernel, stride, padding, groups)
    "conv1": (3, 96, 11, 4, 0, 1),
    "conv2": (96, 256, 5, 1, 2, 2),
    "conv3": (256, 384, 3, 1, 1, 1),
    "conv4": (384, 384, 3, 1, 1, 2),
    "conv5": (384, 256, 3, 1, 1, 2),
}
POOLED = ("conv1", "conv2", "conv5")
NORMALISED = ("conv1", "conv2")


def convert(caffemodel: str | Path, path: str | Path, hidden: int = 4096, classes: int = 200) -> None:
    """Write the weights of a Caffe file to `path`, under the names of `RCNN`.

    Caffe's images are BGR; the first layer's channels are reversed, so that the network reads RGB like the others.
    Raises `InputError` if the file is not this network's.
    """
    weights = _read(caffemodel, hidden, classes)
    weights["features.conv1.weight"] = np.ascontiguousarray(weights["features.conv1.weight"][:, ::-1])
    made_from = lineage({"converted": Path(caffemodel).name, "sha256": checksum(caffemodel)})
    with atomic(path) as temporary:
        save_file(weights, temporary, metadata=metadata(made_from))


def _read(caffemodel: str | Path, hidden: int, classes: int) -> dict[str, NDArray[np.float32]]:
    described = np.frombuffer(prototxt(hidden, classes).encode(), np.uint8)
    try:
        network = cv2.dnn.readNetFromCaffe(described, np.fromfile(caffemodel, np.uint8))
        blobs = {
            f"{ours}.{kind}": np.array(network.getParam(theirs, number), np.float32)
            for theirs, ours in _names().items()
            for number, kind in enumerate(("weight", "bias"))
        }
    except cv2.error as error:
        raise InputError(
            f"{caffemodel}: not the weights of R-CNN ILSVRC13 ({error.err}); get the file again."
        ) from None
    shapes = _shapes(hidden, classes)
    wrong = [f"{name} {blob.shape}" for name, blob in blobs.items() if blob.size != math.prod(shapes[name])]
    if wrong:
        raise InputError(f"{caffemodel}: not the weights of R-CNN ILSVRC13; of other sizes are {', '.join(wrong)}.")
    return {name: blob.reshape(shapes[name]) for name, blob in blobs.items()}


def _names() -> dict[str, str]:
    """Caffe's layers with weights, by their names in `RCNN`."""
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


POOLING = "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"
NORMALISATION = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"


def _layer(name: str, kind: str, bottom: str, top: str, parameters: str = "") -> str:
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {parameters} }}'

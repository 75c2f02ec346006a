"""EfficientNet-Lite0 and -Lite2: EfficientNet (Tan and Le, ICML 2019) with ReLU6 and without squeeze-and-excitation.

Weights have the names of timm's `tf_efficientnet_lite0` and `tf_efficientnet_lite2`. Convolutions pad as TensorFlow's
do ("SAME"), and batch normalisations add its epsilon.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional

STEM, HEAD = 32, 1280
EPSILON = 1e-3


SIDES = {"tf_efficientnet_lite0": (224, 256), "tf_efficientnet_lite2": (260, 292)}
"""The sides `size` and `resize` of the published weights."""


def published_input(architecture: str, file: str) -> dict[str, Any]:
    """The input of published weights, whose file has the network's name; nothing for other files."""
    if not file.startswith(architecture):
        return {}
    size, resize = SIDES[architecture]
    return {"size": size, "resize": resize, "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}


class BlockStage(NamedTuple):
    """Blocks of one size: the kernel, the stride of the first block, and how much a block widens its input."""

    kernel: int
    stride: int
    expansion: int
    channels: int
    blocks: int


_SHAPES = ((3, 1, 1), (3, 2, 6), (5, 2, 6), (3, 2, 6), (5, 1, 6), (5, 2, 6), (3, 1, 6))
SIZES = {
    "tf_efficientnet_lite0": ((16, 24, 40, 80, 112, 192, 320), (1, 2, 2, 3, 3, 4, 1)),
    "tf_efficientnet_lite2": ((16, 24, 48, 88, 120, 208, 352), (1, 3, 3, 4, 4, 5, 1)),
}
"""Channels and blocks of each stage: Lite2 has 1.1 times the width and 1.2 times the depth of Lite0."""


class SameConv(nn.Conv2d):
    """A convolution without bias that pads as TensorFlow does: with a stride of 2, less before than behind."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False, padding=(kernel - stride) // 2)
        self.odd = stride == 2

    def forward(self, x: Tensor) -> Tensor:
        """(N, inputs, height, width) to (N, outputs, ceil(height / stride), ceil(width / stride))."""
        if self.odd:
            height, width = x.shape[2] % 2, x.shape[3] % 2
            x = functional.pad(x, (width, 1, height, 1))
        return super().forward(x)


class Separable(nn.Module):
    """The first stage's block: a depthwise convolution, then one of single cells."""

    def __init__(self, inputs: int, stage: BlockStage) -> None:
        super().__init__()
        self.conv_dw = SameConv(inputs, inputs, stage.kernel, stage.stride, groups=inputs)
        self.bn1, self.act = _norm(inputs), nn.ReLU6()
        self.conv_pw = SameConv(inputs, stage.channels, 1)
        self.bn2 = _norm(stage.channels)

    def forward(self, x: Tensor) -> Tensor:
        """(N, inputs, height, width) to (N, channels, height, width)."""
        return self.bn2(self.conv_pw(self.act(self.bn1(self.conv_dw(x)))))  # type: ignore[no-any-return]


class InvertedResidual(nn.Module):
    """MobileNet v2's block: it widens, convolves each channel, and narrows; its input is added where sizes agree."""

    def __init__(self, inputs: int, stage: BlockStage, stride: int) -> None:
        super().__init__()
        wide = inputs * stage.expansion
        self.conv_pw, self.bn1 = SameConv(inputs, wide, 1), _norm(wide)
        self.conv_dw, self.bn2 = SameConv(wide, wide, stage.kernel, stride, groups=wide), _norm(wide)
        self.conv_pwl, self.bn3 = SameConv(wide, stage.channels, 1), _norm(stage.channels)
        self.act = nn.ReLU6()
        self.adds = stride == 1 and inputs == stage.channels

    def forward(self, x: Tensor) -> Tensor:
        """(N, inputs, height, width) to (N, channels, ceil(height / stride), ceil(width / stride))."""
        wide = self.act(self.bn2(self.conv_dw(self.act(self.bn1(self.conv_pw(x))))))
        narrow: Tensor = self.bn3(self.conv_pwl(wide))
        return narrow + x if self.adds else narrow


class EfficientNetLite(nn.Module):
    """The network: (N, 3, side, side) to (N, classes). `map` is its last convolution after ReLU6."""

    def __init__(self, stages: list[BlockStage], classes: int) -> None:
        super().__init__()
        self.conv_stem, self.bn1, self.act = SameConv(3, STEM, 3, 2), _norm(STEM), nn.ReLU6()
        inputs = [STEM, *(stage.channels for stage in stages)]
        self.blocks = nn.Sequential(*map(_stage, inputs, stages))
        self.conv_head, self.bn2, self.map = SameConv(inputs[-1], HEAD, 1), _norm(HEAD), nn.ReLU6()
        self.classifier = nn.Linear(HEAD, classes)

    def forward(self, x: Tensor) -> Tensor:
        """(N, 3, side, side) to (N, classes)."""
        cells = self.map(self.bn2(self.conv_head(self.blocks(self.act(self.bn1(self.conv_stem(x)))))))
        return self.classifier(cells.mean((2, 3)))  # type: ignore[no-any-return]


def untrained(architecture: str, state: Mapping[str, Tensor]) -> EfficientNetLite:
    """The network with random weights and as many classes as `state` has; without a state, as ImageNet has."""
    sizes = zip(*SIZES[architecture], strict=True)
    stages = [BlockStage(*shape, *size) for shape, size in zip(_SHAPES, sizes, strict=True)]
    classes = len(state["classifier.bias"]) if "classifier.bias" in state else 1000
    return EfficientNetLite(stages, classes)


def _stage(inputs: int, stage: BlockStage) -> nn.Sequential:
    if stage.expansion == 1:
        return nn.Sequential(Separable(inputs, stage))
    later = (InvertedResidual(stage.channels, stage, 1) for _ in range(stage.blocks - 1))
    return nn.Sequential(InvertedResidual(inputs, stage, stage.stride), *later)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=EPSILON)

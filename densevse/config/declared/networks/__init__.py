"""The architectures of networks, one module each, and torchvision's other classifiers.

To add an architecture, write a module here and the implementation that it names, with a function

    untrained(architecture, state) -> nn.Module

that has the classes of the weights `state` (tensors by name). An architecture that finds its own boxes has

    detector(weights, detections, nms_threshold)

which returns a `Detector` of densevse/vision/extract_regions.py. Networks of a library are called `<library>:<name>`:
see densevse/config/declared/libraries.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, Field

from densevse.config.declared.door import Door
from densevse.config.declared.libraries import LIBRARIES


@dataclass(frozen=True)
class Architecture:
    """An architecture: the facts that the plan needs."""

    layers: Mapping[str, str] = field(default_factory=dict)
    """The papers' names of layers -> torchvision's nodes, each after its ReLU."""
    implementation: str = "densevse.vision.architectures.torchvision_classifiers"
    finds_boxes: bool = False
    """True for a detector that needs no proposals."""


OTHERS = frozenset(
    """
    convnext_base convnext_large convnext_small convnext_tiny densenet121 densenet161 densenet169 densenet201
    efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnet_b5 efficientnet_b6
    efficientnet_b7 efficientnet_v2_l efficientnet_v2_m efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5
    mnasnet0_75 mnasnet1_0 mnasnet1_3 mobilenet_v3_large mobilenet_v3_small regnet_x_16gf regnet_x_1_6gf regnet_x_32gf
    regnet_x_3_2gf regnet_x_400mf regnet_x_800mf regnet_x_8gf regnet_y_128gf regnet_y_16gf regnet_y_1_6gf
    regnet_y_32gf regnet_y_3_2gf regnet_y_400mf regnet_y_800mf regnet_y_8gf resnet101 resnet18 resnet34 resnet50
    resnext101_32x8d resnext101_64x4d resnext50_32x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5
    shufflenet_v2_x2_0 squeezenet1_1 swin_b swin_s swin_t swin_v2_b swin_v2_s swin_v2_t vgg11 vgg11_bn vgg13 vgg13_bn
    vgg16_bn vgg19_bn vit_b_16 vit_b_32 vit_h_14 vit_l_16 vit_l_32 wide_resnet101_2 wide_resnet50_2
    """.split()  # noqa: SIM905 (shorter than so many quotation marks)
)
"""torchvision's other classifiers, whose layers have only the names of torchvision's nodes."""

ARCHITECTURES: Door[Architecture] = Door("networks", "architecture", dict.fromkeys(sorted(OTHERS), Architecture()))


def _check(name: str) -> str:
    library, colon, network = name.partition(":")
    if not colon:
        return ARCHITECTURES.check(name)
    LIBRARIES.check(library)
    if not network:
        raise ValueError(f"{name!r} names no network of {library}; write {library}:<network>")
    return name


_OF_LIBRARIES = {"pattern": f"^({'|'.join(LIBRARIES)}):.+$"}
ArchitectureName = Annotated[
    str,
    AfterValidator(_check),
    Field(json_schema_extra={"anyOf": [{"enum": list(ARCHITECTURES)}, _OF_LIBRARIES]}),
]
"""The name of an architecture here, or `<library>:<name>`, which jobs check as they import the library."""

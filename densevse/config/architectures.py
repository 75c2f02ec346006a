"""The architectures of networks, and the libraries whose networks have the names `<library>:<network>`.

densevse/extensions/architectures says how to add an architecture of your own. A further library is an entry of the
table here and the implementation that it names, with a function

    network(settings, weights) -> Network

of the settings of a config/networks entry. A library with sentence encoders also has

    text_encoder(described, weights) -> nn.Module
    tokenizer(described) -> Tokenizer

where `described` has the network's `architecture` and `options`: see
densevse/vision/architectures/open_clip_networks.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, Field

from densevse.config.registry import Registry

POOLED, PATCHES = "pooled", "patches"
"""The two layers that every library's networks have."""

LAYERS: Mapping[str, str] = {"whole": POOLED, "regions": POOLED, "grid": PATCHES}
"""View -> the layer that it reads. The library's own preprocessing crops images, so there are no other views."""


@dataclass(frozen=True)
class Library:
    """A library of networks: the facts that the plan needs."""

    implementation: str
    """The module of the implementation."""
    package: str
    """The package that must be installed."""
    extra: str | None = None
    """The extra that installs it; None if the workflow always has it."""
    has_text: bool = False
    """True if its networks encode sentences too."""


LIBRARIES: Registry[Library] = Registry(
    "library of networks",
    {
        # OpenCLIP (Ilharco et al., 2021): CLIP's networks, of images and of sentences.
        "open_clip": Library(
            "densevse.vision.architectures.open_clip_networks", "open_clip", extra="networks", has_text=True
        ),
        # PyTorch Image Models (Wightman, 2019).
        "timm": Library("densevse.vision.architectures.timm_networks", "timm", extra="networks"),
        # Transformers, with torchvision's own preprocessing; its convolutional networks need no library's name.
        "torchvision": Library("densevse.vision.architectures.torchvision_networks", "torchvision"),
    },
)


def library_of(architecture: str) -> Library | None:
    """The library of an architecture; None for one of `ARCHITECTURES`."""
    name, colon, _ = architecture.partition(":")
    return LIBRARIES[name] if colon else None


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

ARCHITECTURES: Registry[Architecture] = Registry(
    "architecture",
    {
        "alexnet": Architecture({"fc7": "classifier.5", "fc8": "classifier.6", "conv5": "features.11"}),
        # Ren et al., NIPS 2015.
        "faster_rcnn": Architecture(
            {"fc7": "roi_heads.box_head"}, "densevse.vision.architectures.faster_rcnn", finds_boxes=True
        ),
        "mobilenet_v2": Architecture({"conv": "features", "pooled": "features"}),
        # R-CNN's network for the 200 classes of ILSVRC13 (Girshick et al., CVPR 2014).
        "rcnn_ilsvrc13": Architecture(
            {"fc7": "classifier.relu7", "fc8": "classifier.fc_rcnn", "conv5": "features.relu5"},
            "densevse.vision.architectures.rcnn",
        ),
        "resnet152": Architecture({"conv5": "layer4", "pooled": "avgpool", "fc": "fc"}),
        # The small network of the data set scenes, trained by the workflow.
        "scenes_net": Architecture(
            {"fc7": "classifier.relu7", "fc8": "classifier.fc8", "conv4": "features", "pooled": "avgpool"},
            "densevse.scenes.network",
        ),
        "squeezenet1_0": Architecture({"conv": "features", "pooled": "features"}),
        "vgg16": Architecture({"fc7": "classifier.4", "fc8": "classifier.6", "conv5_3": "features.29"}),
        "vgg19": Architecture({"fc7": "classifier.4", "fc8": "classifier.6", "conv5_4": "features.35"}),
    },
    dict.fromkeys(sorted(OTHERS), Architecture()),
)
ARCHITECTURES.add("densevse.extensions.architectures")


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
"""The name of an architecture, or `<library>:<name>`, which jobs check as they import the library."""

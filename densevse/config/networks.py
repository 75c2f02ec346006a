"""Convolutional networks: their weights, which layers are features, and how regions are chosen with them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from densevse.config.sources import Path, PlainPath, Source
from densevse.config.strict import Strict
from densevse.config.training import Phase, Training

View = Literal["whole", "centre", "ten_crop", "grid", "regions", "crops", "concepts", "concepts_whole", "written"]

ONE_VECTOR = frozenset({"whole", "centre", "ten_crop"})
"""The views that are one vector of an image, so that a window of it can be seen in the same way."""

CONCEPTS = frozenset({"concepts", "concepts_whole"})
"""The views that a concept network gives: of the best of an image's regions for each concept, of the whole image."""

CROPS: View = "crops"
"""The view that is the pixels of an image's regions, for a network that is trained with the method."""

WRITTEN: View = "written"
"""The view that a generator gives: the first sentence that it wrote about an image."""


def described_by(view: View) -> View:
    """The view whose network a view is seen with: of crops it is the one that describes the regions that they show."""
    return "regions" if view == CROPS else view


LAYERS = {
    "alexnet": {"fc7": "classifier.5", "fc8": "classifier.6", "conv5": "features.11"},
    "vgg16": {"fc7": "classifier.4", "fc8": "classifier.6", "conv5_3": "features.29"},
    "vgg19": {"fc7": "classifier.4", "fc8": "classifier.6", "conv5_4": "features.35"},
    "resnet152": {"conv5": "layer4", "pooled": "avgpool", "fc": "fc"},
    "mobilenet_v2": {"conv": "features", "pooled": "features"},
    "squeezenet1_0": {"conv": "features", "pooled": "features"},
    "rcnn_ilsvrc13": {"fc7": "classifier.relu7", "fc8": "classifier.fc_rcnn", "conv5": "features.relu5"},
    "scenes_net": {"fc7": "classifier.relu7", "fc8": "classifier.fc8", "conv4": "features", "pooled": "avgpool"},
    "faster_rcnn": {"fc7": "roi_heads.box_head"},
}
"""The architectures, and the papers' names of their layers, each taken behind its ReLU.

Other layers go by the names of torchvision's nodes: the path of a module, such as `features.12`.
"""

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
"""torchvision's other classifiers: their layers go by the names of torchvision's nodes alone."""

CLASSES = "classes"
"""The layer of class scores (logits), whatever it is called in the network."""

MODULES = ("features", "classifier", "avgpool", "flatten", "layer1", "layer2", "layer3", "layer4", "roi_heads")
"""With one of these begins the path of every other layer."""


class RegionOptions(Strict):
    """How regions are chosen and described: see densevse/vision/regions.py."""

    scoring: Literal["crops", "roi_align"] = Field(
        "crops", description="crops, as in R-CNN; or one convolution pass whose map every proposal is read from"
    )
    features: Literal["crops", "roi_align"] = Field("crops", description="of the regions that stay, in the same way")
    detections: int = Field(19, ge=1, description="regions besides the whole image; an image may have fewer")
    maximum_proposals: int = Field(
        2000, ge=1, description="proposals of an image that are scored, in the proposer's order"
    )
    nms_threshold: float = Field(
        0.3, ge=0, le=1, description="overlap above which the lower of two regions of a class goes"
    )
    context: float = Field(
        16, ge=0, description="pixels of context on each side of a crop, for crops of 227 pixels as R-CNN's"
    )
    crop_size: int | None = Field(None, ge=1, description="side of the crops; the network's `size` by default")
    score: Literal["probability", "class"] = Field(
        "probability", description="the best class's softmax; or the last layer as it is: R-CNN's SVMs"
    )
    area_exponent: float = Field(
        0.0, ge=0, description="a region's score is its class score times its share of the image to this power"
    )
    background: str | None = Field(None, description="the class that stands for no thing: no region has it")
    map: str = Field("conv", description="roi_align: the layer that is shared")
    map_size: int | None = Field(
        None, ge=1, description="roi_align: shorter side of the image in the shared pass; none for its own"
    )
    cells: int = Field(7, ge=1, description="roi_align: positions along a side that a proposal becomes on the map")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.scoring == "crops" and self.features != "crops":
            raise ValueError("features read from a shared map need scoring: roi_align too")
        return self


Share = Annotated[float, Field(ge=0, le=1)]
Deviation = Annotated[float, Field(gt=0, le=1)]


class NetworkInput(Strict):
    """The square of pixels that a network is given."""

    size: int = Field(224, ge=32, description="side of the square, pixels")
    mean: tuple[Share, Share, Share] = Field((0.485, 0.456, 0.406), strict=False, description="of RGB from 0 to 1")
    std: tuple[Deviation, Deviation, Deviation] = Field((0.229, 0.224, 0.225), strict=False)


class Network(NetworkInput):
    """A convolutional network and the images it expects."""

    architecture: str = Field(description=f"{', '.join(LAYERS)}, or another of torchvision's classifiers")
    weights: Source | None = Field(None, description="published weights")
    local: Path | None = Field(None, description="a weights file of yours to use instead")
    trained_on: str | None = Field(None, description="the data set whose workflow trains it")
    training: Training | None = Field(None, description="with trained_on: what holds throughout its training")
    phases: dict[str, Phase] = Field(default={}, description="with trained_on: by name, one after the other")
    seed: int = Field(0, ge=0, description="with trained_on: of its training")
    layers: dict[View, str] = Field(min_length=1, description="view -> layer whose output is the feature")
    resize: int = Field(256, ge=32, description="shorter side of the image for the views centre and ten_crop, pixels")
    precision: Literal["auto", "bf16", "fp32"] = Field(
        "auto", description="what it computes in; auto: bf16 where the hardware has it, chosen once for each data set"
    )
    batch_size: int = Field(64, ge=1)
    classes: PlainPath | None = Field(None, description="file with one class name in each line, or imagenet")
    regions: RegionOptions = Field(default={}, validate_default=True)

    @model_validator(mode="after")
    def _recipe_where_trained(self) -> Self:
        for key in ("training", "phases"):
            if self.trained_on and not getattr(self, key):
                raise ValueError(f"{key}: a network that is trained on {self.trained_on} needs it")
        for key in ("training", "phases", "seed"):
            if not self.trained_on and getattr(self, key):
                raise ValueError(f"{key}: only a network with trained_on has it; this one is not trained here")
        return self

    @model_validator(mode="after")
    def _crops_fit(self) -> Self:
        if self.size > self.resize:
            raise ValueError(f"resize: {self.resize} pixels are fewer than those of size, {self.size}")
        return self

    @model_validator(mode="after")
    def _known_layers(self) -> Self:
        if self.architecture not in LAYERS.keys() | OTHERS:
            raise ValueError(
                f"architecture: no {self.architecture!r}; known: {', '.join(LAYERS)}, torchvision's other classifiers"
            )
        named = {f"layers.{view}": layer for view, layer in self.layers.items()}
        if self.regions.scoring == "roi_align":
            named["regions.map"] = self.regions.map
        known = LAYERS.get(self.architecture, {})
        for where, layer in named.items():
            if self.architecture in LAYERS and layer not in (*known, CLASSES) and layer.split(".")[0] not in MODULES:
                raise ValueError(
                    f"{where}: {self.architecture} has no layer {layer!r}; known: {', '.join(known)}, or the path of a "
                    "module such as features.12"
                )
        return self

"""Networks that read images: their weights, layers and regions; and features that were computed elsewhere."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from densevse.config.registries import (
    ARCHITECTURES,
    LAYERS,
    LIBRARIES,
    POOLED,
    ArchitectureName,
    Library,
    ViewName,
    find_library,
)
from densevse.config.sources import Path, PlainPath, Source, normalise_path
from densevse.config.training import Phase, TrainingConfig
from snakeproof.strict import Strict

CLASSES = "classes"
"""The layer of class scores (logits), whatever the network calls it."""

MODULES = ("features", "classifier", "avgpool", "flatten", "layer1", "layer2", "layer3", "layer4", "roi_heads")
"""The path of every other layer begins with one of these."""


class RegionOptions(Strict):
    """Settings of how regions are chosen and described; see densevse/vision/regions.py."""

    scoring: Literal["crops", "roi_align"] = Field(
        "crops", description="crops, as in R-CNN; or one convolution pass, from whose map every proposal is read"
    )
    features: Literal["crops", "roi_align"] = Field(
        "crops", description="the same choice for the features of the kept regions"
    )
    detections: int = Field(19, ge=1, description="regions besides the whole image; an image may have fewer")
    maximum_proposals: int = Field(
        2000, ge=1, description="proposals of an image that are scored, in the proposer's order"
    )
    nms_threshold: float = Field(
        0.3, ge=0, le=1, description="overlap above which the lower-scored of two regions of a class is removed"
    )
    context: float = Field(
        16, ge=0, description="pixels of context on each side of a crop, for crops of 227 pixels as R-CNN's"
    )
    crop_size: int | None = Field(None, ge=1, description="side of the crops; the network's `size` by default")
    score: Literal["probability", "class"] = Field(
        "probability", description="the best class's softmax; or the output of the last layer, as R-CNN's SVMs"
    )
    area_exponent: float = Field(
        0.0, ge=0, description="a region's score is its class score times its share of the image to this power"
    )
    background: str | None = Field(None, description="the class for no object, which no region may have")
    map: str = Field("conv", description="roi_align: the layer that is shared")
    map_size: int | None = Field(
        None, ge=1, description="roi_align: shorter side of the image in the shared pass; none: unchanged"
    )
    cells: int = Field(7, ge=1, description="roi_align: positions along each side of a proposal on the map")

    @model_validator(mode="after")
    def _check_scoring(self) -> Self:
        if self.scoring == "crops" and self.features != "crops":
            raise ValueError("features: roi_align needs scoring: roi_align too")
        for key in ("map", "map_size", "cells"):
            # A scoring that is named may be over that of a file, whose other keys stay.
            if "scoring" not in self.model_fields_set and getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"{key}: only scoring: roi_align reads it; write that too, or remove the key")
        return self


_Share = Annotated[float, Field(ge=0, le=1)]
Deviation = Annotated[float, Field(gt=0, le=1)]
StoredType = Literal["float16", "float32"]
"""float16 has three more significant bits than bf16, and half the size of float32."""


class NetworkInput(Strict):
    """The square of pixels that a network reads."""

    size: int = Field(224, ge=32, description="side of the square, pixels")
    mean: tuple[_Share, _Share, _Share] = Field(
        (0.485, 0.456, 0.406), strict=False, description="of the RGB channels, for values from 0 to 1"
    )
    std: tuple[Deviation, Deviation, Deviation] = Field((0.229, 0.224, 0.225), strict=False, description="of RGB")


class TokenizerConfig(Strict):
    """The tokenizer of a network that encodes sentences, as a file tokenizer.json of the library tokenizers."""

    source: Source | None = Field(None, description="a published file")
    local: Path | None = Field(None, description="your own file to use in its place")
    pad: str | None = Field(
        None,
        min_length=1,
        description="the token that fills up short sentences; SigLIP's is </s>; by default that of "
        "tokenizer_config.json beside the file, else <pad>",
    )

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        if not (self.source or self.local):
            raise ValueError("a tokenizer needs a source or local (your own file)")
        return self


class PromptNames(Strict):
    """Which prompt of a folder's model sentences and images get: `query`, `document`, or another of its names."""

    sentences: str = Field("query", min_length=1, description="of sentences")
    images: str = Field("document", min_length=1, description="of images")


class NetworkConfig(NetworkInput):
    """A network and its input; a network of a library brings its own preprocessing."""

    architecture: ArchitectureName = Field(
        description="an architecture, or <library>:<network> or <library>:<network>.<tag of its weights>, such as "
        "timm:vit_small_patch16_224.dino; or sentence_transformers:<folder>"
    )
    options: dict[str, Any] = Field(
        default={}, description="for a library's network: arguments of the library's function that builds it"
    )
    weights: Source | None = Field(None, description="published weights, or those that come with the project")
    local: Path | None = Field(None, description="your own weights file to use in its place")
    trained_on: str | None = Field(
        None, description="the data set on which the workflow trains it or, with weights, on which they were trained"
    )
    training: TrainingConfig | None = Field(None, description="with trained_on: settings of the whole training")
    phases: dict[str, Phase] = Field(default={}, description="with trained_on: the phases by name, one after the other")
    seed: int = Field(0, ge=0, description="with trained_on: the seed of its training")
    tokenizer: TokenizerConfig | None = Field(
        None, description="for a network of open_clip that does not use CLIP's tokenizer, such as SigLIP"
    )
    prompts: PromptNames | None = Field(
        None, description="for a folder of sentence_transformers: query of sentences and document of images by default"
    )
    layers: dict[ViewName, str] = Field(min_length=1, description="view -> layer whose output is the feature")
    resize: int = Field(256, ge=32, description="shorter side of the image for the views centre and ten_crop, pixels")
    precision: Literal["auto", "bf16", "fp32"] = Field(
        "auto",
        description="the precision of its computation; auto: bf16 if the hardware has it, chosen once for each data "
        "set. A network that encodes sentences too has fp32 by default",
    )
    dtype: StoredType = Field(
        "float16", description="the type of the stored vectors; with float32, zero-shot ranks are the library's own"
    )
    batch_size: int = Field(64, ge=1, description="images in a batch")
    classes: PlainPath | None = Field(None, description="file with one class name in each line, or imagenet")
    regions: RegionOptions = Field(default={}, validate_default=True)

    @model_validator(mode="after")
    def _check_recipe(self) -> Self:
        for key in ("training", "phases"):
            if self.trained_on and not getattr(self, key):
                raise ValueError(f"{key}: a network that is trained on {self.trained_on} needs it")
        for key in ("training", "phases", "seed"):
            if not self.trained_on and getattr(self, key):
                raise ValueError(f"{key}: only a network with trained_on has this key; this one is not trained here")
        return self

    @model_validator(mode="after")
    def _check_resize(self) -> Self:
        if self.size > self.resize:
            raise ValueError(f"resize: {self.resize} pixels are fewer than those of size, {self.size}")
        return self

    @property
    def library(self) -> Library | None:
        """The library that the network is of, if any."""
        return find_library(self.architecture)

    @model_validator(mode="before")
    @classmethod
    def _set_precision(cls, values: Any) -> Any:
        """Zero-shot ranks of bf16 differ, and `auto` would choose another precision on another machine."""
        if isinstance(values, dict) and (
            _has_text(values.get("architecture")) or _is_folder(values.get("architecture"))
        ):
            return {"precision": "fp32", **values}
        return values

    @model_validator(mode="after")
    def _check_tokenizer(self) -> Self:
        if self.tokenizer and not _has_text(self.architecture):
            raise ValueError(f"tokenizer: {self.architecture} encodes no sentences; remove the key")
        return self

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.options and self.library is None:
            raise ValueError(f"options: {self.architecture} is not a network of a library; remove the options")
        return self

    @model_validator(mode="after")
    def _check_folder(self) -> Self:
        """Checks that an encoder in a folder has no key beside it that the folder decides."""
        if self.folder is None:
            if self.prompts:
                raise ValueError(f"prompts: {self.architecture} has none; remove the key")
            return self
        for key in ("weights", "local", "options", "classes"):
            if getattr(self, key):
                raise ValueError(f"{key}: the folder {self.folder} has everything; remove this key")
        if self.precision != "fp32":
            raise ValueError(f"precision: {self.architecture} is computed in fp32; remove this key")
        if {*self.layers} != {"whole"}:
            raise ValueError(f"layers: {self.architecture} makes the view whole alone; write {{whole: {POOLED}}}")
        return self

    @property
    def folder(self) -> str | None:
        """The folder that has an encoder; None for other networks."""
        return normalise_path(self.architecture.partition(":")[2]) if _is_folder(self.architecture) else None

    @model_validator(mode="after")
    def _check_library_keys(self) -> Self:
        """Checks that a library's network leaves preprocessing to the library, and that it is not trained."""
        if self.library is None:
            return self
        for key in ("size", "mean", "std", "resize"):
            if getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"{key}: {self.architecture} brings its own preprocessing; remove this key")
        if self.trained_on:
            raise ValueError(f"trained_on: a network of a library is not trained here, as {self.architecture} is one")
        if self.regions.scoring != "crops" or self.regions.crop_size is not None:
            raise ValueError(
                f"regions: {self.architecture} reads crops of its own size; remove scoring, features and crop_size"
            )
        return self

    @model_validator(mode="after")
    def _check_layers(self) -> Self:
        if self.library is not None:
            return self._check_library_layers()
        named = {f"layers.{view}": layer for view, layer in self.layers.items()}
        if self.regions.scoring == "roi_align":
            named["regions.map"] = self.regions.map
        known = ARCHITECTURES[self.architecture].layers
        for where, layer in named.items():
            if known and layer not in (*known, CLASSES) and layer.split(".")[0] not in MODULES:
                raise ValueError(
                    f"{where}: {self.architecture} has no layer {layer!r}; known: {', '.join(known)}, or the path of a "
                    "module such as features.12"
                )
        return self

    def _check_library_layers(self) -> Self:
        for view, layer in self.layers.items():
            if LAYERS.get(view) != layer:
                known = ", ".join(f"{view}: {layer}" for view, layer in LAYERS.items())
                raise ValueError(
                    f"layers.{view}: {layer!r} is not a layer for this view; a library's network has {known}"
                )
        return self


def _is_folder(architecture: Any) -> bool:
    """True for an encoder in a folder."""
    library = LIBRARIES.get(str(architecture).partition(":")[0])
    return library is not None and library.by_folder


def _has_text(architecture: Any) -> bool:
    """True for a network of a library that encodes sentences too."""
    library = LIBRARIES.get(str(architecture).partition(":")[0])
    return library is not None and library.has_text


class NetworkSettings(NetworkConfig):
    """A network as a job is given it: with the nodes of its layers, so that an edited architecture reruns its jobs."""

    nodes: dict[str, str] = Field(default={}, description="a layer that the architecture names -> torchvision's node")


def layer_nodes(network: NetworkConfig, view: str) -> dict[str, str]:
    """Layer -> torchvision's node, of the layers that a view is read from and the network's architecture names."""
    named = {} if network.library else ARCHITECTURES[network.architecture].layers
    shared = [network.regions.map] if view == "regions" and network.regions.scoring == "roi_align" else []
    return {layer: named[layer] for layer in (network.layers[view], *shared) if layer in named}


class ConceptNetwork(Strict):
    """A classifier with one output for each concept: its regions and its training."""

    network: str | None = Field(
        None,
        description="the network that is changed to predict concepts; by default the data set's own for the view whole",
    )
    proposer: str = Field(
        description="the proposer of the scored regions: all boxes of one of kind clustered, else those that methods "
        "read as regions"
    )
    train: Literal["head", "all"] = Field(
        description="head: the last layer alone, on stored features of regions; all: every layer, from pixels"
    )
    learns_from: Literal["whole", "regions"] = Field(
        "whole", description="the whole image, as the paper; or the maximum over its regions (ours, train: head only)"
    )
    seed: int = Field(0, ge=0, description="of its training")
    training: TrainingConfig
    phases: dict[str, Phase] = Field(min_length=1, description="the phases by name, one after the other")


MEAN_OF_REGIONS = "mean"
"""The mean of its regions describes the whole image."""
_WITH_BOXES = ("parquet", "bottom_up")


class FeatureFile(Strict):
    """A file with vectors of a data set's images; docs/features.md describes the formats."""

    format: Literal["scan", "array", "folder", "parquet", "bottom_up"] = Field(
        description="scan: _ims.npy beside the sentences that the reader scan reads; array: npy, npz or safetensors "
        "with an id file; folder: <image id>.npy for each image; parquet: a row for each vector; bottom_up: the TSV of "
        "bottom-up attention"
    )
    path: Path | None = Field(
        None, description="the file, or a folder with several TSVs; the format scan uses the data set's"
    )
    ids: Path | None = Field(None, description="with array: a text file with an image's id in each line, in order")
    boxes: Path | None = Field(
        None, description="with array, of regions: left, top, right and bottom of each in pixels (images, regions, 4)"
    )
    image_id: str = Field("{id}", description="an image's id in the data set, where {id} is that of the file")
    padding: Literal["zeros"] | None = Field(
        None, description="with array or scan, of regions: zeros fill up images of fewer regions, and count nowhere"
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        needed = {"scan": (), "array": ("path", "ids")}.get(self.format, ("path",))
        known = (*needed, "boxes") if self.format == "array" else needed
        for key in ("path", "ids", "boxes"):
            given = getattr(self, key) is not None
            if given and key not in known:
                raise ValueError(f"{key}: the format {self.format} has none; remove the key")
            if key in needed and not given:
                raise ValueError(f"{key}: the format {self.format} needs it; name your file")
        if self.padding and self.format not in ("array", "scan"):
            raise ValueError(f"padding: the format {self.format} has as many regions as an image has; remove the key")
        if "{id}" not in self.image_id:
            raise ValueError(f"image_id: {self.image_id!r} must hold {{id}}, which stands for the id in the file")
        return self


class GivenFeatures(Strict):
    """Features that were computed elsewhere, by view; a data set's `networks` name them like a network."""

    regions: FeatureFile | None = Field(None, description="vectors of an image's regions")
    grid: FeatureFile | None = Field(None, description="vectors of an image's cells, as many for each image")
    whole: FeatureFile | None = Field(None, description="a vector of each image")
    concepts: FeatureFile | None = Field(None, description="the scores of concepts of each image, which SCO reads")
    whole_by: str | None = Field(
        None,
        description="in place of a file of whole images: mean (of an image's regions), or the name of a network "
        "whose vectors of whole images become region 0",
    )
    dtype: StoredType = Field("float16", description="the type of the stored vectors")

    @model_validator(mode="after")
    def _check_views(self) -> Self:
        if not (self.regions or self.grid or self.whole or self.concepts):
            raise ValueError("one of the views regions, grid, whole and concepts is needed")
        if self.whole and self.whole_by:
            raise ValueError("whole, whole_by: only one of them describes whole images; remove the other")
        if self.regions and not (self.whole or self.whole_by):
            raise ValueError(
                "whole_by: region 0 is the whole image, which the file of regions lacks; write mean or the name of a "
                "network, or name a file of vectors as whole"
            )
        if self.whole_by and not self.regions:
            raise ValueError("whole_by: there are no regions to complete; remove the key")
        for view in ("grid", "whole", "concepts"):
            file: FeatureFile | None = getattr(self, view)
            if file and file.padding:
                raise ValueError(f"{view}: padding is for regions only; remove the key")
            if file and (file.boxes or file.format == "bottom_up"):
                raise ValueError(
                    f"{view}: boxes and the format bottom_up are for regions only; give an array or Parquet"
                )
        return self

    @property
    def views(self) -> list[str]:
        """The views that have features."""
        found = {
            "regions": self.regions,
            "grid": self.grid,
            "whole": self.whole or self.whole_by == MEAN_OF_REGIONS,
            "concepts": self.concepts,
        }
        return [view for view, given in found.items() if given]

    @property
    def has_boxes(self) -> bool:
        """True if the regions may have boxes; a Parquet file itself shows whether it has them."""
        return self.regions is not None and (self.regions.boxes is not None or self.regions.format in _WITH_BOXES)

    def view_file(self, view: str) -> FeatureFile:
        """The file from which a view is read; the mean of regions is read from the regions' file."""
        found = getattr(self, view) or self.regions
        assert isinstance(found, FeatureFile)  # only for views in `views`
        return found

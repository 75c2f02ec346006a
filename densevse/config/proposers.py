"""Sources of boxes that may hold an object."""

from typing import Annotated, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from densevse.config.sources import Path, Source
from snakeproof.strict import Strict, type_validator

Most = Annotated[int, Field(ge=1, description="the largest number of boxes of an image, the best first")]


class SelectiveSearch(Strict):
    """Selective search (densevse.vision.selective_search)."""

    mode: Literal["single", "fast", "quality"] = Field(
        "fast", description="the colour spaces and scales that are searched; quality takes longest"
    )
    height: int | None = Field(None, ge=16, description="pixels to which an image is resized for the search")
    minimum_side: int = Field(10, ge=1, description="boxes with a shorter side are left out, pixels")
    boxes: Most = 2000


class BoxFile(Strict):
    """A Parquet or CSV file with the columns image_id, x, y, width, height, score."""

    path: Path = Field(description="the file, or a folder with several")
    boxes: Most = 2000


class Detections(BoxFile):
    """A file of the same columns and class_name, whose boxes are used as regions."""


class Masks(Strict):
    """The data set from whose masks MCG's ranker learns, in folds: no forest ranks an image that it learned from."""

    dataset: str = Field(min_length=1, description="a data set whose objects have masks")
    shards: int = Field(1, ge=1, description="the number of its first shards whose training images are learned from")
    folds: int = Field(5, ge=2, le=100, description="the number of folds; a forest for each learns from all others")


class MCG(Strict):
    """MCG (Arbelaez et al., CVPR 2014), computed here; see densevse.vision.mcg."""

    scales: list[Annotated[float, Field(gt=0)]] = Field([2, 1, 0.5], min_length=1, description="of the contour maps")
    maps: Path | None = Field(
        None, description="a folder of your own contour maps in place of HED's: <scale>/<image's file name>.png, grey"
    )
    structured_edges: Path | None = Field(
        None, description="a model of OpenCV's structured edges (model.yml.gz) in place of HED"
    )
    pixels: int = Field(400_000, ge=256, description="the most pixels of an image; a larger one is reduced")
    half_precision: bool = Field(
        False, description="the contour network computes in bf16: faster on a GPU, slower on many processors"
    )
    superpixels: int = Field(4096, ge=1, le=16_000, description="the most superpixels of an image, which bounds memory")
    candidates: list[list[Annotated[int, Field(ge=0)]]] = Field(
        min_length=1,
        max_length=4,
        description="the numbers of singles, pairs, triplets and 4-tuples from each hierarchy",
    )
    masks: Masks | None = Field(
        None, description="the masks that the ranker learns from, in place of the authors' sample"
    )
    trees: int = Field(50, ge=1, description="of the ranker's forest")
    leaf: int = Field(5, ge=1, description="the fewest training candidates in a leaf of a tree")
    boxes: Most = 5000

    @property
    def detector(self) -> Literal["hed", "structured_edges"]:
        """The detector of contours, unless they are given."""
        return "structured_edges" if self.structured_edges else "hed"

    @model_validator(mode="after")
    def _check_contours(self) -> Self:
        if self.maps and self.structured_edges:
            raise ValueError("maps, structured_edges: only one of them gives contours; remove the other")
        return self

    @model_validator(mode="after")
    def _check_candidates(self) -> Self:
        hierarchies = len(self.scales) + (len(self.scales) > 1)
        if any(len(row) != hierarchies for row in self.candidates):
            raise ValueError(f"candidates: each row needs {hierarchies} numbers, one for each hierarchy of the scales")
        return self


class PublishedMCG(Strict):
    """MCG's published boxes: a folder with one .mat file for each image."""

    folder: Path = Field(description="the folder of .mat files")
    name: str = Field("{stem}.mat", min_length=1, description="the .mat file of the image <stem>.<ending>")
    boxes: Most = 2000


class Clustered(Strict):
    """One of each cluster of another proposer's boxes; see densevse/vision/clusters.py."""

    of: str = Field(min_length=1, description="the proposer whose boxes are clustered")
    boxes: Most = 49
    considered: int = Field(500, ge=1, description="the number of an image's boxes that are clustered, the best first")
    smallest_area: float = Field(900, ge=0, description="pixels; smaller boxes are left out")
    longest_ratio: float = Field(4, ge=1, description="boxes whose sides have a larger ratio are left out")


PROPOSERS: dict[str, type[Strict]] = {
    "selective_search": SelectiveSearch,
    "file": BoxFile,
    "detections": Detections,
    "mcg": MCG,
    "mcg_published": PublishedMCG,
    "clustered": Clustered,
}


class Proposer(Strict):
    """A source of boxes that may hold an object."""

    kind: Literal["selective_search", "file", "detections", "mcg", "mcg_published", "clustered"] = Field(
        description="the method that finds boxes, or the format of their files"
    )
    source: Source | None = Field(None, description="the candidates that MCG's ranker is learned from")
    local: Path | None = Field(None, description="your own file of such candidates to use in its place")
    options: Annotated[SerializeAsAny[Strict], type_validator("kind", PROPOSERS)] = Field(
        default={}, validate_default=True, description="of this kind"
    )

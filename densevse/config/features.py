"""Features of images that were computed elsewhere; each is a key of its data set."""

from typing import Literal, Self

from pydantic import Field, model_validator

from densevse.config.sources import Path
from densevse.config.strict import Strict

MEAN_OF_REGIONS = "mean"
"""The mean of its regions describes the whole image."""
_WITH_BOXES = ("parquet", "bottom_up")


class FeatureFile(Strict):
    """A file with vectors of a data set's images; docs/features.md describes the formats."""

    format: Literal["scan", "array", "parquet", "bottom_up"] = Field(
        description="scan: _ims.npy beside the sentences that the reader scan reads; array: npy, npz or safetensors "
        "with an id file; parquet: a row for each vector; bottom_up: the TSV of bottom-up attention"
    )
    path: Path | None = Field(None, description="the file; the format scan uses the data set's")
    ids: Path | None = Field(None, description="with array: a text file with an image's id in each line, in order")
    boxes: Path | None = Field(
        None, description="with array, of regions: left, top, right and bottom of each in pixels (images, regions, 4)"
    )
    image_id: str = Field("{id}", description="an image's id in the data set, where {id} is that of the file")

    @model_validator(mode="after")
    def _own_keys(self) -> Self:
        needed = {"scan": (), "array": ("path", "ids"), "parquet": ("path",), "bottom_up": ("path",)}[self.format]
        known = (*needed, "boxes") if self.format == "array" else needed
        for key in ("path", "ids", "boxes"):
            given = getattr(self, key) is not None
            if given and key not in known:
                raise ValueError(f"{key}: the format {self.format} has none; remove the key")
            if key in needed and not given:
                raise ValueError(f"{key}: the format {self.format} needs it; name your file")
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
    dtype: Literal["float16", "float32"] = Field("float16", description="the type of the stored vectors")

    @model_validator(mode="after")
    def _whole_images(self) -> Self:
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

    def file_of(self, view: str) -> FeatureFile:
        """The file from which a view is read; the mean of regions is read from the regions' file."""
        found = getattr(self, view) or self.regions
        assert isinstance(found, FeatureFile)  # only for views in `views`
        return found

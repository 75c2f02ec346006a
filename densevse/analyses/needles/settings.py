"""Settings of the synthetic data sets with needles."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from densevse.config.analyses import Entries
from densevse.config.values import Length
from snakeproof.strict import Strict

NEEDLES = 3
"""Marked cells of a group, each with a symbol that a sentence names."""


class ImageCounts(Strict):
    """Numbers of images."""

    train: int = Field(ge=1, description="images of this split")
    val: int = Field(ge=1, description="images of this split")
    test: int = Field(ge=1, description="images of this split")


class Needles(Strict):
    """A synthetic data set, and what identifies the group of marked cells that an image's sentences are about."""

    told_by: Literal["nothing", "context", "sentence"] = Field(
        description="what identifies the group: nothing (it is always the first); context (the vector of the whole "
        "image); or sentence (a word of the sentence; an image's sentences are about several groups)"
    )
    images: ImageCounts = Field(ImageCounts(train=4000, val=200, test=500), description="of each split")
    cells: int = Field(48, ge=NEEDLES, description="of an image, each with another symbol")
    groups: int = Field(4, ge=1, description="marks; three cells of an image carry each, the others carry none")
    length: Length = Field(64, description="of a vector")
    noise: float = Field(0.3, ge=0, description="standard deviation of what is added to each entry of a vector")
    seed: int = Field(0, ge=0, description="of everything in them")

    @model_validator(mode="after")
    def _room_for_all_groups(self) -> "Needles":
        if self.groups * NEEDLES > self.cells:
            raise ValueError(f"groups: {self.groups} of {NEEDLES} cells each do not fit into {self.cells} cells")
        return self


class NeedlesSettings(Entries[Needles]):
    """The synthetic data sets, by name: results/needles/<name>/."""

    FOLDERS: ClassVar = frozenset({"needles"})

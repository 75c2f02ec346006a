"""MS-COCO's annotations."""

from typing import Self

from pydantic import Field, model_validator

from densevse.config.declared.readers import BySplit, ReaderOptions, check_one_of
from densevse.config.values import Count, Seed


class Coco(ReaderOptions):
    """MS-COCO's annotations."""

    IMPLEMENTATION = "densevse.datasets.coco"
    SOURCES = frozenset({"images", "train2014", "val2014", "annotations", "karpathy"})
    SENTENCES = "annotations"
    HAS_BOXES = True
    HAS_MASKS = True

    karpathy: str | None = Field(None, description="the name of Karpathy's file: splits, order and sentences")
    splits: BySplit[Count] | None = Field(None, description="in its place: split -> number of images, drawn at random")
    seed: Seed = Field(0, description="seed of the random draw")

    @model_validator(mode="after")
    def _one_division(self) -> Self:
        check_one_of(self, "splits", "karpathy")
        return self


DECLARED = Coco

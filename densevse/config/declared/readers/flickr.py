"""A token file of captions, and lists of images for each split or Karpathy's file."""

from typing import Self

from pydantic import Field, model_validator

from densevse.config.declared.readers import BySplit, EncodingName, ReaderOptions, check_one_of


class Flickr(ReaderOptions):
    """A token file of captions, and lists of images for each split or Karpathy's file."""

    IMPLEMENTATION = "densevse.datasets.flickr"
    SOURCES = frozenset({"images", "text", "karpathy"})
    SENTENCES = "text"

    captions: str = Field(min_length=1, description="the token file's name")
    splits: BySplit[str] | None = Field(None, description="split -> the name of its list of images")
    karpathy: str | None = Field(None, description="the name of Karpathy's file, which then gives the splits")
    encoding: EncodingName = Field("utf-8", description="encoding of the text files")

    @model_validator(mode="after")
    def _one_division(self) -> Self:
        check_one_of(self, "splits", "karpathy")
        return self


DECLARED = Flickr

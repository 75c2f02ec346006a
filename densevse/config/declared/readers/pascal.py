"""Pascal1K's page or text files."""

from pydantic import Field

from densevse.config.declared.readers import BySplit, EncodingName, ReaderOptions
from densevse.config.values import Count, Seed


class Pascal(ReaderOptions):
    """Pascal1K's page or text files."""

    IMPLEMENTATION = "densevse.datasets.pascal"
    SOURCES = frozenset({"images", "sentences"})
    SENTENCES = "sentences"

    splits: BySplit[Count] = Field(description="split -> number of images, drawn at random")
    seed: Seed = Field(0, description="seed of the random draw")
    encoding: EncodingName = Field("utf-8", description="encoding of the page or text files")


DECLARED = Pascal

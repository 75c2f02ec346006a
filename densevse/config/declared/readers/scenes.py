"""The generated data set."""

from pydantic import Field

from densevse.config.declared.readers import BySplit, ReaderOptions
from densevse.config.values import Count, Seed


class Scenes(ReaderOptions):
    """The generated data set."""

    IMPLEMENTATION = "densevse.scenes.reader"
    SOURCES = frozenset({"scenes"})
    SENTENCES = "scenes"
    HAS_BOXES = True
    PHRASES_HAVE_BOXES = True

    images: BySplit[Count] = Field(description="split -> number of pictures")
    seed: Seed = Field(0, description="seed of everything in them")
    size: int = Field(96, ge=32, description="side of a picture, pixels")


DECLARED = Scenes

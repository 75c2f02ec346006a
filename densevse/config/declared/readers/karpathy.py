"""Karpathy's caption file alone."""

from pydantic import Field

from densevse.config.declared.readers import ReaderOptions


class Karpathy(ReaderOptions):
    """Karpathy's caption file alone."""

    IMPLEMENTATION = "densevse.datasets.karpathy"
    SOURCES = frozenset({"images", "karpathy"})
    SENTENCES = "karpathy"

    karpathy: str = Field(min_length=1, description="the name of Karpathy's file")


DECLARED = Karpathy

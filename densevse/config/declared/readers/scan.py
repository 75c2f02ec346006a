"""A folder of precomputed features with sentences, as SCAN and later papers pass it on: it has no pictures."""

from typing import Literal

from pydantic import Field

from densevse.config.declared.readers import EncodingName, ReaderOptions


class Scan(ReaderOptions):
    """A folder <name>_precomp with {train,dev,test}_ims.npy, _caps.txt and _ids.txt."""

    IMPLEMENTATION = "densevse.datasets.scan"
    SOURCES = frozenset({"precomp"})
    SENTENCES = "precomp"
    HAS_PICTURES = False

    copies: Literal[1, 5] = Field(
        description="how often _ims.npy holds each image: once, or once for each of its five sentences"
    )
    test: Literal["test", "testall"] = Field("test", description="which of the folder's files are the split test")
    encoding: EncodingName = Field("utf-8", description="of the text files")


DECLARED = Scan

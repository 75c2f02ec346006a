"""A folder of precomputed features with sentences but no pictures, as SCAN and later papers distribute it."""

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
        description="copies of each image in _ims.npy: one, or one for each of its five sentences"
    )
    test: Literal["test", "testall"] = Field("test", description="the files of the folder that are the split test")
    encoding: EncodingName = Field("utf-8", description="encoding of the text files")


DECLARED = Scan

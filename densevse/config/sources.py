"""Files that are obtained: from an address, by hand, or from a rule of this workflow."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from densevse.config.strict import Strict

Path = Annotated[str, Field(min_length=1)]
"""A file or folder; relative ones lie below the folder in which the workflow runs."""


class Source(Strict):
    """A file that is obtained: from an address, by hand, or from a rule of this workflow."""

    file: str = Field(pattern=r"^[^/]+$", description="file name under resources/<owner>/")
    url: str | None = Field(None, pattern="^https?://", description="its address; none for a file obtained by hand")
    manual: str | None = Field(None, min_length=1, description="what a person must do to obtain it")
    made_by: Literal["make_scenes"] | None = Field(None, description="the rule that makes it")
    size: int | None = Field(None, gt=0, description="bytes, where known")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{8,64}$", description="or its start, where only that is known")
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="where only that is published")
    sha1: str | None = Field(None, pattern="^[0-9a-f]{40}$", description="where only that is published")
    licence: str = Field(description="its licence or terms of use")
    note: str | None = None

    @model_validator(mode="after")
    def _obtainable(self) -> Self:
        if [self.url, self.manual, self.made_by].count(None) != 2:
            raise ValueError("a source has one of url, manual (instructions to obtain it) and made_by (a rule)")
        return self

"""Values that several kinds of entries have."""

from typing import Annotated, Literal

from pydantic import Field

Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0)]
RankedSentences = Literal["all", "first_five"]
Count = Annotated[int, Field(gt=0)]

"""Values that several kinds of entries share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0)]


def _differ(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{seeds} holds a seed twice")
    return seeds


Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_differ)]
RankedSentences = Literal["all", "first_five"]
Count = Annotated[int, Field(gt=0)]

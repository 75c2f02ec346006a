"""Types of the values of the configuration: names, splits, seeds and sizes."""

from typing import Annotated, Any, Literal, NewType

from pydantic import AfterValidator, BeforeValidator, Field

from snakeproof.strict import check_file_name

DatasetName = NewType("DatasetName", str)
"""The name of a data set in the plan; a type of its own, so that it is not confused with a variant's."""
VariantName = NewType("VariantName", str)
"""The name of a variant, an ensemble or a given row in the plan."""
DatasetKey = Annotated[DatasetName, AfterValidator(check_file_name)]
VariantKey = Annotated[VariantName, AfterValidator(check_file_name)]
"""These as keys of the configuration, which are file names too."""

Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


def _check_distinct_seeds(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{seeds} holds a seed twice")
    return seeds


Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_check_distinct_seeds)]
LANGUAGE = "[a-z]{3}-[A-Z][a-z]{3}"
Language = Annotated[str, Field(pattern=f"^{LANGUAGE}$")]
"""A language and its script by ISO 639-3 and ISO 15924, as mteb names them: eng-Latn."""
RankedSentences = Literal["all", "first_five"]
Count = Annotated[int, Field(gt=0, le=10**9)]
Threads = Annotated[int, Field(gt=0, le=4096)]


def _read_switch(given: Any) -> Any:
    """A switch as Snakemake's `--config` gives it, which takes `true` for a text."""
    return {"true": True, "false": False}.get(given, given) if isinstance(given, str) else given


Exact = Annotated[bool | Literal["auto"], BeforeValidator(_read_switch)]
Length = Annotated[int, Field(gt=0, le=100_000)]
"""Of a vector or a sentence, or a number of units: no machine holds the weights of more."""

"""Tables of results: config/tables/<name>.yaml becomes results/tables/<name>.md."""

from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, field_validator, model_validator

from densevse.config.values import DatasetName, Seeds, VariantName
from snakeproof.strict import Strict, Title

Protocol = Literal["full", "five_folds", "first_1000", "random_1000", "hodosh", "regions"]
_Name = TypeVar("_Name", bound=str)


def _check_distinct(names: list[str]) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice} more than once; keep one of each")
    return names


Different = Annotated[list[_Name], AfterValidator(_check_distinct)]


class PrintedTable(Strict):
    """Rows of a paper's printed table."""

    paper: str = Field(description="the paper's key in config/published")
    table: str = Field(description="the table's number; `code` for metrics of the authors' public code")
    rows: list[str] | None = Field(default=None, description="only methods with these printed names; all by default")


class SectionConfig(Strict):
    """A part of a table: one data set under one protocol."""

    dataset: DatasetName = Field(description="the data set whose test split is ranked")
    protocol: Protocol = Field(
        default="full", description="the protocol: which images and sentences are ranked together"
    )
    published: str | None = Field(default=None, description="the data set of the published rows, if it is another one")
    seeds: Seeds | None = Field(default=None, description="seeds in place of the data set's own")


class Table(Strict):
    """A table of results. Each section shows the published rows of its data set and protocol, with ours beside them."""

    title: Title = Field(description="the heading of the page")
    sections: list[SectionConfig] = Field(min_length=1, description="parts of the table, in this order")
    published: list[PrintedTable] = Field(default=[], description="the published rows that it shows, in this order")
    measure: Different[VariantName] = Field(
        default=[], description="the variants of config/methods (or ensembles) that it measures"
    )
    reference: VariantName | None = Field(
        default=None, description="the variant with which the others are compared, query by query"
    )
    latex_intervals: bool = Field(default=False, description="add a table of 95% intervals to its LaTeX")

    @field_validator("sections")
    @classmethod
    def _check_distinct_sections(cls, sections: list[SectionConfig]) -> list[SectionConfig]:
        _check_distinct([f"{section.dataset} under {section.protocol}" for section in sections])
        return sections


class Ensemble(Strict):
    """Several models whose scores are added up (sm-LSTM*, section 4.2)."""

    title: Title = Field(description="the name in tables")
    members: Different[VariantName] = Field(
        min_length=1,
        description="variants of config/methods, each trained with the same seeds, or given rows",
    )
    seeds_each: int = Field(
        default=1, ge=1, le=100, description="seeds of each member: of n, seed k of the ensemble has n k to n k + n - 1"
    )

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        if len(self.members) * self.seeds_each < 2:
            raise ValueError("members: one model is no ensemble; name another variant, or set seeds_each to 2 or more")
        return self

    def seeds_of_members(self, seed: int) -> range:
        """The seeds of each member for a seed of the ensemble, so that no two ensembles share a model."""
        return range(self.seeds_each * seed, self.seeds_each * (seed + 1))

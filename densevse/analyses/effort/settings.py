"""Settings of equal effort: which rows are tuned, in which space, by how many draws, and at which budget."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from densevse.config.analyses import ByDataset
from densevse.config.training import TrainingConfig
from densevse.config.values import VariantName
from snakeproof.strict import Strict, Title, check_known_names

NEGATIVES, LEARNING_RATE = "negatives", "learning_rate"
"""Keys of a space that are no parameter of a method and no setting of a training."""


class Space(Strict):
    """The values that a draw may take: a range about the default, or a list."""

    times: list[float] | None = Field(
        None, min_length=2, max_length=2, description="the default times a factor between these two, log-uniformly"
    )
    values: list[Any] | None = Field(None, min_length=1, description="one of these, each as likely")

    @model_validator(mode="after")
    def _one_of_both(self) -> "Space":
        if (self.times is None) == (self.values is None):
            raise ValueError("give either times or values")
        if self.times and not 0 < self.times[0] < self.times[1]:
            raise ValueError(f"times: expected two factors above 0, the smaller one first, not {self.times}")
        return self


def _check_keys(space: dict[str, Space]) -> dict[str, Space]:
    for key in space:
        group, _, name = key.partition(".")
        if group == "training":
            check_known_names(group, [name], TrainingConfig.model_fields)
        elif key not in (NEGATIVES, LEARNING_RATE) and (group != "parameters" or not name):
            raise ValueError(
                f"no {key!r}; a key is {LEARNING_RATE}, {NEGATIVES}, training.<a key of it> or parameters.<one of them>"
            )
    return space


Spaces = Annotated[dict[str, Space], AfterValidator(_check_keys)]
"""The space of each setting that is drawn, by its key."""


class TunedRow(Strict):
    """A variant that is tuned."""

    title: Title | None = Field(None, description="the name in the table; by default the variant's")
    draws: int = Field(ge=1, description="how many draws; draw 0 has the configured settings")
    parameters: dict[str, Any] = Field({}, description="parameters that all draws share")
    default_again: bool = Field(True, description="train draw 0 again with the fresh seeds too")
    space: Spaces = Field({}, description="keys of the method's own, beside those of all rows")


class Effort(Strict):
    """The protocol of a data set. It is registered: written before the first draw, and not changed after."""

    rows: dict[VariantName, TunedRow] = Field({}, description="the rows of the table by variant; null leaves one out")
    space: Spaces = Field(
        {},
        description="what is drawn for every row, by key: learning_rate, negatives, a key of `training`, or one of "
        "`parameters`; a method without the parameter keeps what it has",
    )
    budget_of: VariantName | None = Field(
        None,
        description="the variant whose configured training sets the budget of every draw: epochs times negatives of a "
        "matched pair",
    )
    compared_at: int = Field(4, ge=2, description="the number of draws at which all rows are compared")
    validation_images: int | None = Field(None, gt=0, description="of every draw's validation; all if not given")
    patience: int | None = Field(None, gt=0, description="of every draw's training, as in `training`")
    drawn_by: int = Field(0, ge=0, description="the seed by which settings are drawn")
    fresh_seeds: list[int] = Field([], description="the seeds with which the chosen draw is trained again")
    extended: str | None = Field(
        None, description="why a side of the space was extended after the first draws; once, and for all rows"
    )
    reference: VariantName | None = Field(None, description="the row from which gains are measured")
    least_correlation: float = Field(
        0.5, ge=-1, le=1, description="no best row is named if ranks of draws on val and test agree less (Spearman)"
    )

    @field_validator("rows", mode="before")
    @classmethod
    def _drop_null_rows(cls, rows: Any) -> Any:
        return {name: row for name, row in rows.items() if row is not None} if isinstance(rows, Mapping) else rows

    @model_validator(mode="after")
    def _complete(self) -> "Effort":
        if self.rows and (self.budget_of is None or self.reference not in self.rows or len(self.fresh_seeds) < 2):
            raise ValueError("rows: they need a budget_of, a reference among them, and two fresh_seeds or more")
        for variant, row in self.rows.items():
            if row.draws < self.compared_at:
                raise ValueError(
                    f"rows.{variant}.draws: {row.draws}, and rows are compared at {self.compared_at} draws; ask for so "
                    "many, or set compared_at"
                )
        return self


class EffortSettings(ByDataset[Effort]):
    """The protocols by data set: results/tables/<data set>_effort.md."""

    def check(self, config: Any) -> None:
        """Raises `ValueError` for an unknown data set or variant."""
        super().check(config)
        names = config.variant_names()
        for dataset, entry in self.items():
            check_known_names(f"effort.{dataset}.rows", entry.rows, names)
            if entry.budget_of:
                check_known_names(f"effort.{dataset}.budget_of", [entry.budget_of], names)

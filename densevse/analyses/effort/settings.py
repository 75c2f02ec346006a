"""Settings of equal effort: which rows are tuned, in which space, by how many draws, and at which budget."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from densevse.config.analyses import ByDataset
from densevse.config.training import TrainingConfig
from densevse.config.values import VariantName
from snakeproof.strict import Strict, Title, check_known_names

LEARNING_RATE = "learning_rate"
"""The key of a space that is no parameter of a method and no setting of a training."""
SHARED = ("batch_size", "patience", "validation_images")
"""The settings of a training that the protocol gives to all draws."""


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
            if name in SHARED:
                raise ValueError(f"{key}: all draws share it, so it cannot be drawn; leave it out of the space")
        elif key != LEARNING_RATE and (group != "parameters" or not name):
            raise ValueError(
                f"no {key!r}; a key is {LEARNING_RATE}, training.<a key of it> or parameters.<one of them>"
            )
    return space


Spaces = Annotated[dict[str, Space], AfterValidator(_check_keys)]
"""The space of each setting that is drawn, by its key."""


class TunedRow(Strict):
    """A variant that is tuned."""

    title: Title | None = Field(None, description="the name in the table; by default the variant's")
    draws: int = Field(ge=1, description="how many draws; draw 0 has the configured settings")
    parameters: dict[str, Any] = Field({}, description="parameters that all draws share")
    batch_size: int | None = Field(
        None, gt=0, description="instead of that of `budget_of`; with as many steps it sees more or fewer sentences"
    )
    default_again: bool = Field(True, description="train draw 0 again with the test seeds too")
    control: bool = Field(
        False, description="train the reference with this row's chosen settings too, where these mean the same for it"
    )
    space: Spaces = Field({}, description="keys of the method's own, beside those of all rows")


class TuningRun(Strict):
    """The seeds of one run of a protocol, which no other run has."""

    seed: int = Field(ge=0, description="of every draw's first training, which decides the shortlist")
    val_seeds: list[int] = Field(min_length=2, description="by whose mean rsum on val the shortlist is decided")
    test_seeds: list[int] = Field(min_length=2, description="with which the chosen draw is trained again for test")

    @property
    def seeds(self) -> list[int]:
        """All of them."""
        return [self.seed, *self.val_seeds, *self.test_seeds]


class Effort(Strict):
    """The protocol of a data set. It is registered: written before the first draw, and not changed after."""

    rows: dict[VariantName, TunedRow] = Field({}, description="the rows of the table by variant; null leaves one out")
    space: Spaces = Field(
        {},
        description="what is drawn for every row, by key: learning_rate, a key of `training`, or one of `parameters`",
    )
    budget_of: VariantName | None = Field(
        None,
        description="the variant whose configured batch and number of epochs, so its optimiser steps, each draw has",
    )
    runs: list[TuningRun] = Field([], description="the seeds; a second run repeats the first one with others")
    shortlist_within: float = Field(
        6.0, ge=0, description="the rsum on val by which a draw may be below the best one and still be on the shortlist"
    )
    compared_at: int = Field(4, ge=2, description="the number of draws of the expected best, if a row has more")
    validation_images: int | None = Field(None, gt=0, description="of every draw's validation; all if not given")
    patience: int | None = Field(None, gt=0, description="of every draw's training, as in `training`")
    drawn_by: int = Field(0, ge=0, description="the seed by which settings are drawn, the same in all runs")
    reference: VariantName | None = Field(None, description="the row from which gains are measured")

    @field_validator("rows", mode="before")
    @classmethod
    def _drop_null_rows(cls, rows: Any) -> Any:
        return {name: row for name, row in rows.items() if row is not None} if isinstance(rows, Mapping) else rows

    @model_validator(mode="after")
    def _complete(self) -> "Effort":
        if self.rows and (self.budget_of is None or self.reference not in self.rows or not self.runs):
            raise ValueError("rows: they need a budget_of, a reference among them, and runs")
        seeds = [seed for run in self.runs for seed in run.seeds]
        twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
        if twice:
            raise ValueError(f"runs: the seeds {twice} come twice; what chooses must not test, so take others")
        return self

    def find_run(self, seed: int) -> TuningRun:
        """The run that has a seed. Raises `ValueError` if none has it."""
        for run in self.runs:
            if seed in run.seeds:
                return run
        raise ValueError(f"no run has the seed {seed}; known: {[run.seeds for run in self.runs]}")


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

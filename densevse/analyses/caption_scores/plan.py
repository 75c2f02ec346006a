"""The plans of tables of generated sentences, passed from the DAG to the tables' jobs."""

from typing import Any

from pydantic import Field

from densevse.config.strict import Strict

NO_ORACLE = "none"


class WriterPlan(Strict):
    """A writer of sentences: a generator, the nearest training image, or a person."""

    title: str
    seeds: list[int]


class CaptionTablePlan(Strict):
    """A table of generated sentences about the images of a split."""

    title: str
    dataset: str
    split: str
    reference: str = Field(description="the writer that the others are compared with")
    metrics: list[str] = Field(description="which are asked for; some need Java")
    writers: dict[str, WriterPlan]


def writer_with_oracle(generator: str, known: str = NO_ORACLE, selection: str = "translation") -> str:
    """The name of a generator that is told a part of a sentence, and whose sentences are chosen in one way."""
    return f"{generator}_{known}_{selection}"


class OracleRow(Strict):
    """A row of a table of oracles: sentences that one writer wrote and that were chosen in one way."""

    writer: str
    title: str
    known: str = Field(description="the part of the first sentence that the writer is told")
    selection: str = Field(description="the way in which one of its sentences is chosen")
    seeds: list[int]
    without_oracle: str | None = Field(description="the row that `gain` is over; none for that row itself")
    beside: str | None = Field(description="the row that `lead` is over; none for a row of the reference")


class CaptionOraclePlan(Strict):
    """A table of sentences that were written, or chosen, with the help of a reference."""

    title: str
    dataset: str
    split: str
    reference: str = Field(description="the title of the generator with which the others are compared")
    sentences: int = Field(description="of each image, among which the best is chosen")
    rows: list[OracleRow]
    settings: dict[str, Any] = Field(description="of the generators and their joint spaces, by name")


class CaptionOracleMeansPlan(Strict):
    """A table of the means of a table of oracles over resplits of one data set."""

    title: str
    dataset: str = Field(description="the data set that the resplits divide")
    resplits: list[CaptionOraclePlan] = Field(min_length=2, description="the table of each; their rows are the same")
    train: int = Field(description="images of each resplit's split train")
    test: int = Field(description="images of each resplit's split test")

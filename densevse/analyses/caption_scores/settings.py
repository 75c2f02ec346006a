"""Settings of the tables of generated captions: results/tables/<data set>_captions.md and _caption_oracles.md.

The plans of these tables are what their jobs are given.
"""

from typing import Any, Literal

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.values import VariantName
from snakeproof.strict import Strict, check_known_names

CaptionMetric = Literal["bleu", "rouge_l", "cider", "meteor", "spice"]
Oracle = Literal["tags", "content", "tags_and_content"]
NO_ORACLE = "none"


class CaptionOracles(Strict):
    """The rows of a data set's table of oracles."""

    generators: dict[str, list[Oracle]] = Field(
        default={"sc_nlm": ["tags", "content", "tags_and_content"], "mlbl": ["content"]},
        min_length=1,
        description="generator -> the parts of an image's first sentence that it is told, in a row each; every "
        "generator has a row without. Tags need structure, and content a joint space",
    )
    reference: str = Field("sc_nlm", description="the generator with which the others are compared, row by row")
    sentences: int = Field(
        50, ge=1, description="of each image, by translation score, among which an oracle chooses the best"
    )
    seeds: list[int] | None = Field(None, min_length=1, description="null: those of the data set")


class CaptionTable(Strict):
    """The rows of a data set's table, and the metrics of its columns."""

    generators: list[str] = Field(
        default=["sc_nlm", "mlbl", "lbl", "lstm_captioner"], min_length=1, description="its rows"
    )
    neighbour: VariantName = Field(
        VariantName("vse"),
        description="the variant whose joint space finds the training image whose sentence is copied",
    )
    reference: str = Field("sc_nlm", description="the generator with which every other row is compared, image by image")
    metrics: list[CaptionMetric] = Field(
        default=["bleu", "rouge_l", "cider", "meteor", "spice"],
        min_length=1,
        description="METEOR and SPICE need Java; without it the table says that they are missing",
    )
    oracles: CaptionOracles = Field(default={}, validate_default=True, description="the table of oracles (ours)")


class CaptionScoreSettings(ByDataset[CaptionTable]):
    """Data set -> its table of generated captions."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown generator or variant, or a reference that is not a row."""
        super().check(config)
        for dataset, table in self.items():
            where = f"caption_scores.{dataset}"
            check_known_names(f"{where}.generators", table.generators, config.generator_names())
            check_known_names(f"{where}.neighbour", [table.neighbour], config.variant_names())
            check_known_names(f"{where}.reference", [table.reference], table.generators)
            check_known_names(f"{where}.oracles.generators", table.oracles.generators, config.generator_names())
            check_known_names(f"{where}.oracles.reference", [table.oracles.reference], table.oracles.generators)


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

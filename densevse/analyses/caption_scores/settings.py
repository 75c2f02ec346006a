"""Settings of the tables of generated captions: results/tables/<data set>_captions.md and _caption_oracles.md."""

from typing import Literal

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.strict import Strict, VariantName, known

CaptionMetric = Literal["bleu", "rouge_l", "cider", "meteor", "spice"]
Oracle = Literal["tags", "content", "tags_and_content"]


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
            known(f"{where}.generators", table.generators, config.generator_names())
            known(f"{where}.neighbour", [table.neighbour], config.variant_names())
            known(f"{where}.reference", [table.reference], table.generators)
            known(f"{where}.oracles.generators", table.oracles.generators, config.generator_names())
            known(f"{where}.oracles.reference", [table.oracles.reference], table.oracles.generators)

"""Settings of the table of generated captions: results/tables/<data set>_captions.md."""

from typing import Literal

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.names import known
from densevse.config.strict import Strict

CaptionMetric = Literal["bleu", "rouge_l", "cider", "meteor", "spice"]


class CaptionTable(Strict):
    """The rows of a data set's table, and the metrics of its columns."""

    generators: list[str] = Field(
        default=["sc_nlm", "mlbl", "lbl", "lstm_captioner"], min_length=1, description="its rows"
    )
    neighbour: str = Field(
        "vse",
        description="the variant whose joint space finds the training image whose sentence is copied",
    )
    reference: str = Field("sc_nlm", description="the generator with which every other row is compared, image by image")
    metrics: list[CaptionMetric] = Field(
        default=["bleu", "rouge_l", "cider", "meteor", "spice"],
        min_length=1,
        description="METEOR and SPICE need Java; without it the table says that they are missing",
    )


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

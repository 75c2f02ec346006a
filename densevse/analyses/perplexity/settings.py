"""Settings of the tables of perplexity: results/tables/<data set>_perplexity.md."""

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.tables import Different
from densevse.config.values import Split, VariantName
from snakeproof.strict import Strict, check_known_names


class MeasuredDecoders(Strict):
    """The decoders whose perplexity is measured on a data set."""

    variants: Different[VariantName] = Field(
        default=[], description="variants of config/methods that train a decoder of sentences (SCO)"
    )
    split: Split = Field("val", description="the split with the sentences")


class PerplexitySettings(ByDataset[MeasuredDecoders]):
    """Data set -> the decoders whose perplexity is measured."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown variant."""
        super().check(config)
        for dataset, entry in self.items():
            check_known_names(f"perplexity.{dataset}.variants", entry.variants, config.variant_names())

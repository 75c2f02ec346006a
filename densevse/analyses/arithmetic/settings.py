"""Settings of vector arithmetic with images and words (Kiros et al. 2014)."""

from typing import Annotated

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from snakeproof.strict import Strict


class ArithmeticQueries(Strict):
    """The queries image - word + word of a data set."""

    queries: list[Annotated[list[str], Field(min_length=3, max_length=3)]] = Field(
        default=[], description="queries that are drawn: image, word to subtract, word to add"
    )
    exchanged: dict[str, Annotated[list[str], Field(min_length=2)]] = Field(
        default={},
        description="kind, e.g. colour -> words of true objects' names that queries replace by each other",
    )


class ArithmeticSettings(ByDataset[ArithmeticQueries]):
    """Data set -> its queries."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` if words of objects are exchanged but no true boxes name the objects."""
        super().check(config)
        for dataset, entry in self.items():
            if entry.exchanged and not config.datasets[dataset].has_boxes:
                raise ValueError(f"arithmetic.{dataset}.exchanged: {dataset} has no true boxes, which name the objects")

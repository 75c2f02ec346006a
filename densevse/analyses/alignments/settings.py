"""Settings of the pictures of alignments (DeFrag, Figure 5)."""

from typing import Annotated

from pydantic import Field

from densevse.config.analyses import ByDataset
from snakeproof.strict import Strict


class TripletsShown(Strict):
    """The triplets of a data set whose best regions are drawn."""

    triplets: list[Annotated[list[str], Field(min_length=3, max_length=3)]] = Field(
        default=[],
        description="triplets (relation, governor, dependent) whose best regions are drawn, besides frequent ones "
        "(DeFrag, Fig 5)",
    )


class AlignmentSettings(ByDataset[TripletsShown]):
    """Data set -> the triplets that are drawn."""

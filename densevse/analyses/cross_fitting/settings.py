"""Settings of cross-fitting: whose concepts are scored, by which networks, and in how many folds."""

from typing import ClassVar

from pydantic import Field

from densevse.config.analyses import Entries
from densevse.config.config import Config
from snakeproof.strict import FileName, Strict, check_known_names


class CrossFitting(Strict):
    """The cross-fitted concepts of a data set."""

    concept_networks: list[FileName] = Field(min_length=1, description="of which only the last layer is trained")
    folds: int = Field(5, ge=2, description="the parts of the training images; a head is trained without each of them")


class CrossFittingSettings(Entries[CrossFitting]):
    """Cross-fitted concepts by data set: results/cross_fitting/<data set>/<concept network>/."""

    FOLDERS: ClassVar = frozenset({"cross_fitting"})

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown data set, or a concept network whose last layer is not trained alone."""
        heads = [name for name, network in config.concept_networks.items() if network.train == "head"]
        for dataset, entry in self.items():
            check_known_names(f"cross_fitting.{dataset}", [dataset], config.datasets)
            check_known_names(f"cross_fitting.{dataset}.concept_networks", entry.concept_networks, heads)

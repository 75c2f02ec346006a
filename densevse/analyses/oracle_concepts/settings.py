"""Settings of oracle concepts."""

from typing import ClassVar

from pydantic import Field

from densevse.config.analyses import Entries
from densevse.config.config import Config
from snakeproof.strict import FileName, Strict, check_known_names


class OracleConcepts(Strict):
    """True concepts of a data set's images, with noise."""

    dataset: FileName = Field(description="whose images have the concepts that their sentences name")
    mean_average_precision: float = Field(gt=0, le=100, description="percent that the noise leaves, over all images")
    seed: int = Field(0, ge=0, description="of the noise")


class OracleConceptsSettings(Entries[OracleConcepts]):
    """Oracle concepts by name: results/oracle_concepts/<name>/."""

    FOLDERS: ClassVar = frozenset({"oracle_concepts"})

    def check(self, config: Config) -> None:
        """Raise `ValueError` for a data set that there is none of."""
        for name, entry in self.items():
            check_known_names(f"oracle_concepts.{name}.dataset", [entry.dataset], config.datasets)

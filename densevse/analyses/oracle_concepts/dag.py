"""Oracle concepts of data sets."""

from typing import Any

from densevse.analyses.oracle_concepts.settings import OracleConcepts, OracleConceptsSettings
from densevse.dag.paths import Values
from densevse.dag.project import Stage, any_of


class OracleConceptsStage(Stage):
    """The making of oracle concepts."""

    def names(self) -> str:
        """The names of the oracles."""
        return any_of(name for name, _ in self.config.analysis(OracleConceptsSettings).items())

    def source(self, oracle: str) -> Values:
        """The data set of an oracle."""
        return {"dataset": self._entry(oracle).dataset}

    def options(self, oracle: str) -> dict[str, Any]:
        """The mean average precision and the seed of an oracle."""
        return self._entry(oracle).model_dump(mode="json", exclude={"dataset"})

    def _entry(self, oracle: str) -> OracleConcepts:
        return self.config.analysis(OracleConceptsSettings).root[oracle]

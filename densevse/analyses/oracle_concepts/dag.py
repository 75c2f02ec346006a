"""Oracle concepts of data sets."""

from densevse.analyses.oracle_concepts.settings import OracleConcepts, OracleConceptsSettings
from densevse.dag.jobs import Job
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

    def job(self, oracle: str) -> Job:
        """The mean average precision of an oracle, in percent, and its seed."""
        entry = self._entry(oracle)
        return Job({"wanted": entry.mean_average_precision, "seed": entry.seed})

    def _entry(self, oracle: str) -> OracleConcepts:
        return self.config.analysis(OracleConceptsSettings).root[oracle]

"""CxC in the plan: the files of its judgements, and the models that are compared with them."""

from densevse.analyses.cxc.settings import Crisscrossed, CxcSettings
from densevse.config.values import DatasetName
from densevse.dag.tables import TableStage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class CxcStage(TableStage):
    """Measures of CxC."""

    def files(self, dataset: DatasetName) -> list[str]:
        """The files of judgements. Raises `InputError` if none are named."""
        return self._entry(dataset).files()

    def measured_rounds(self, dataset: DatasetName) -> list[Values]:
        """The last round of each variant, of each seed. Raises `InputError` if none is named."""
        return self.last_rounds(dataset, self._entry(dataset).measure)

    def job(self, dataset: DatasetName) -> Job:
        """The table."""
        plan = self.plan_of_last_rounds(dataset, self._entry(dataset).measure)
        return Job({"plan": plan.model_dump(mode="json")})

    def _entry(self, dataset: DatasetName) -> Crisscrossed:
        entry = self.config.analysis(CxcSettings).dataset_entry(dataset)
        if not entry.folder or not entry.measure:
            raise InputError(
                f"cxc.{dataset}: name the folder of CxC's files as `folder`, and the variants to compare as `measure`."
            )
        return entry

"""ECCV Caption and CxC in the plan: the measured retrievals, and the lists that they need."""

from densevse.analyses.eccv_caption.plan import LISTED, ExtendedTruthPlan
from densevse.config.environment import check_extra
from densevse.config.tables import SectionConfig
from densevse.config.values import DatasetName
from densevse.dag.tables import TableStage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class ExtendedTruthStage(TableStage):
    """Measures of ECCV Caption and CxC for the rows of a data set's main table."""

    def measured_retrievals(self, dataset: DatasetName) -> list[str | Values]:
        """The retrieval of each row, of each seed. Raises `InputError` as `job` does."""
        section = self.job(dataset).settings["plan"]["section"]
        return [
            self.retrieval(dataset, section["protocol"], name, seed)
            for name, entry in section["measured"].items()
            for seed in entry["seeds"]
        ]

    def job(self, dataset: DatasetName) -> Job:
        """The table. Raises `InputError` if the package is not installed, or lists are too short."""
        check_extra("eccv_caption", extra="eccv-caption", needs=f"{self.results}/tables/{dataset}_eccv_caption.md")
        entry = self.dataset(dataset)
        if entry.top < LISTED:
            raise InputError(
                f"datasets.{dataset}.top: ECCV Caption is measured on the {LISTED} best candidates of each query, and "
                f"{entry.top} are listed; set it to {LISTED}."
            )
        section = self.section(SectionConfig(dataset=dataset, protocol="full"), self.table(dataset).measure)
        plan = ExtendedTruthPlan(title=entry.title, section=section)
        return Job({"plan": plan.model_dump(mode="json")})

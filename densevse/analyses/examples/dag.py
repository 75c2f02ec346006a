"""Pictures of retrievals in the plan: one for each method, and SCO's variants side by side."""

from densevse.artifacts.identity import Identity
from densevse.config.values import DatasetName, VariantName
from densevse.dag.datasets import DatasetStage
from densevse.dag.tables import TableStage
from snakeproof.jobs import Job
from snakeproof.paths import Values

COMPARED = tuple(map(VariantName, ("sco_ctx", "sco_cnp_ctx", "sco")))
"""The variants side by side in SCO's Figure 4."""


class ExampleStage(TableStage):
    """Queries with the answers that a method ranks first."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """A picture for each method in a data set's main table, not for its variants."""
        methods = sorted(self.config.method_entries().keys() & self.variants(dataset).keys())
        return [f"{self.results}/figures/{dataset}/examples/{name}.png" for name in methods]

    def compared_retrievals(self, dataset: DatasetName) -> list[Values]:
        """The retrieval of each variant that SCO's Figure 4 compares: the last round of its first seed."""
        protocol = self.first_protocol(dataset)
        return [{"protocol": protocol, **self.last_round(dataset, variant)} for variant in COMPARED]

    def comparison_job(self, dataset: DatasetName) -> Job:
        """The picture of the answers of the variants that SCO's Figure 4 compares."""
        shown = {
            self.project.variant(dataset, variant).title: Identity(dataset, split="test", **values)
            for variant, values in zip(COMPARED, self.compared_retrievals(dataset), strict=True)
        }
        title = f"The best sentences of images of {self.title(dataset)}"
        return DatasetStage(self.project).picture_job(dataset, title, shown)

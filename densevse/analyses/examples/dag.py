"""Pictures of retrievals in the plan: one for each method, and SCO's variants side by side."""

from densevse.artifacts.identity import Identity
from densevse.dag.paths import Values
from densevse.dag.tables import TableStage
from densevse.report.plan import PicturePlan, ShownArtifact

COMPARED = ("sco_ctx", "sco_cnp_ctx", "sco")
"""The variants side by side in SCO's Figure 4."""


class ExampleStage(TableStage):
    """Queries with the answers that a method ranks first."""

    def of_dataset(self, dataset: str) -> list[str]:
        """A picture for each method in a data set's main table, not for its variants."""
        methods = sorted(self.config.trained().keys() & self.variants(dataset).keys())
        return [f"{self.results}/figures/{dataset}/examples/{name}.png" for name in methods]

    def example(self, dataset: str, variant: str) -> Values:
        """The retrieval of the last round of a variant's first seed, by the protocol of the main table."""
        return {"protocol": self.first_protocol(dataset), **self.last_round(dataset, variant)}

    def compared(self, dataset: str) -> list[Values]:
        """The same of each variant that SCO's Figure 4 compares."""
        return [self.example(dataset, variant) for variant in COMPARED]

    def plan_of_comparison(self, dataset: str) -> PicturePlan:
        """The plan of their picture."""
        titles = [self.project.variant(variant, dataset).title for variant in COMPARED]
        identities = [Identity(dataset, split="test", **values) for values in self.compared(dataset)]
        return PicturePlan(
            title=f"The best sentences of images of {self.title(dataset)}",
            shown=[ShownArtifact(title=title, of=of) for title, of in zip(titles, identities, strict=True)],
        )

"""Tables of generated captions in the plan: their writers, metrics and artifacts."""

import shutil
from pathlib import Path

from densevse.analyses.caption_scores.plan import CaptionTablePlan, WriterPlan
from densevse.analyses.caption_scores.settings import CaptionScoreSettings, CaptionTable
from densevse.artifacts.identity import Identity
from densevse.dag.paths import Values
from densevse.dag.project import Stage, any_of
from densevse.report.plan import PicturePlan, ShownArtifact

COPIED, PERSON = "copied", "person"


class CaptionScoreStage(Stage):
    """The writers that are compared in results/tables/<data set>_captions.md."""

    def writers(self) -> str:
        """Every writer of captions: generators, the nearest training image, a person."""
        return any_of([*self.config.generator_names(), COPIED, PERSON])

    def of_dataset(self, dataset: str) -> list[str]:
        """A data set's table of generated captions, and its picture of them."""
        return [f"{self.results}/tables/{dataset}_captions.md", f"{self.results}/figures/{dataset}/captions.png"]

    def of(self, dataset: str) -> CaptionTable:
        """The settings of a data set's table."""
        return self.config.analysis(CaptionScoreSettings).of(dataset)

    def neighbour(self, dataset: str, seed: int) -> Values:
        """The model in whose joint space the nearest training image is found."""
        return self.last_round(dataset, self.of(dataset).neighbour, seed)

    def metrics(self, dataset: str) -> list[str]:
        """The metrics of captions; METEOR and SPICE only with Java."""
        asked = self.of(dataset).metrics
        return [name for name in asked if name not in ("meteor", "spice") or shutil.which("java")]

    def spice(self, dataset: str) -> Values | None:
        """True if SPICE's folder is needed: if SPICE is requested and can be obtained (by Maven)."""
        obtainable = shutil.which("mvn") or Path(self.resources, "spice").exists()
        return {} if "spice" in self.metrics(dataset) and obtainable else None

    def memory(self, dataset: str) -> int:
        """The memory that a scoring job requests, in MB; SPICE and METEOR run one after the other."""
        return 3000 if self.spice(dataset) is None else 6000

    def measured(self, dataset: str) -> list[Values]:
        """Every writer of a table with each of its seeds."""
        writers = self._writers(dataset).items()
        return [{"writer": name, "seed": seed} for name, entry in writers for seed in entry.seeds]

    def shown(self, dataset: str) -> list[Values]:
        """Every writer with its first seed."""
        return [{"writer": name, "seed": entry.seeds[0]} for name, entry in self._writers(dataset).items()]

    def plan_of_figure(self, dataset: str) -> PicturePlan:
        """The plan of the picture of the writers' sentences about test images."""
        shown = [
            ShownArtifact(title=entry.title, of=Identity(dataset, name, entry.seeds[0], split="test"))
            for name, entry in self._writers(dataset).items()
        ]
        return PicturePlan(title=self._title(dataset), shown=shown)

    def published(self, dataset: str) -> Values | None:
        """True if there are published metrics for a data set."""
        return {} if (self.project.root / f"config/published/captions/{dataset}.csv").exists() else None

    def plan(self, dataset: str) -> CaptionTablePlan:
        """The plan of the table."""
        captions = self.of(dataset)
        return CaptionTablePlan(
            title=self._title(dataset),
            dataset=dataset,
            split="test",
            reference=captions.reference,
            metrics=list(captions.metrics),
            writers=self._writers(dataset),
        )

    def _title(self, dataset: str) -> str:
        return f"Sentences about images of {self.title(dataset)}"

    def _writers(self, dataset: str) -> dict[str, WriterPlan]:
        """Every writer by name; a person's sentences are the same for every seed."""
        seeds, table = self.dataset(dataset).seeds, self.of(dataset)
        neighbour = self.project.variant(table.neighbour, dataset).title
        generated = {
            name: WriterPlan(title=self.project.generator(name, dataset).title, seeds=seeds)
            for name in table.generators
        }
        copied = WriterPlan(title=f"copied from the nearest training image ({neighbour})", seeds=seeds)
        return {**generated, COPIED: copied, PERSON: WriterPlan(title="a person", seeds=[0])}

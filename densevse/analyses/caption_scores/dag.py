"""Tables of generated sentences: what wrote them, what they are scored by, and from which artifacts."""

import shutil
from pathlib import Path
from typing import Any

from densevse.dag.project import Stage, Wildcards, any_of

COPIED, PERSON = "copied", "person"
SHOWN = "test"


class Captions(Stage):
    """What is compared in results/tables/<data set>_captions.md."""

    def writers(self) -> str:
        """Everything that sentences come from: generators, the nearest training image, a person."""
        return any_of([*self.config.generator_names(), COPIED, PERSON])

    def table(self, dataset: str) -> str:
        """A data set's table of generated sentences."""
        return f"{self.results}/tables/{dataset}_captions.md"

    def figure(self, dataset: str) -> str:
        """Its figure of them."""
        return f"{self.results}/figures/{dataset}/captions.png"

    def neighbours(self, wildcards: Wildcards) -> dict[str, str]:
        """The embeddings of training images, and of those that are asked for, by the names train and the split's."""
        variant = self.dataset(wildcards).captions.neighbour
        embeddings = self.folder_of_round("embeddings", wildcards.dataset, variant, wildcards.seed)
        return {split: f"{embeddings}/{split}.parquet" for split in ("train", wildcards.split)}

    def metrics(self, wildcards: Wildcards) -> list[str]:
        """What sentences are scored by: METEOR and SPICE only where there is Java."""
        asked = self.dataset(wildcards).captions.metrics
        return [name for name in asked if name not in ("meteor", "spice") or shutil.which("java")]

    def spice(self, wildcards: Wildcards) -> str | list[str]:
        """The folder of what SPICE needs, where SPICE is asked for and can be obtained (by Maven)."""
        folder = f"{self.resources}/spice"
        obtainable = shutil.which("mvn") or Path(folder).exists()
        return folder if "spice" in self.metrics(wildcards) and obtainable else []

    def memory(self, wildcards: Wildcards) -> int:
        """What a scoring job asks for, in MB; SPICE and METEOR run one after the other."""
        return 6000 if self.spice(wildcards) else 3000

    def scores(self, wildcards: Wildcards) -> list[str]:
        """CAPTION_SCORES of a table, by writer, then seed."""
        return [
            f"{self.results}/{wildcards.dataset}/captions/{name}/seed{seed}/{SHOWN}_scores.parquet"
            for name, entry in self._writers(wildcards).items()
            for seed in entry["seeds"]
        ]

    def shown(self, wildcards: Wildcards) -> list[str]:
        """The sentences of each writer's first seed."""
        return [
            f"{self.results}/{wildcards.dataset}/captions/{name}/seed{entry['seeds'][0]}/{SHOWN}.parquet"
            for name, entry in self._writers(wildcards).items()
        ]

    def titles(self, wildcards: Wildcards) -> list[str]:
        """The titles of the same writers."""
        return [entry["title"] for entry in self._writers(wildcards).values()]

    def title_of_figure(self, wildcards: Wildcards) -> str:
        """The title of the figure."""
        return f"Sentences about images of {self.title(wildcards)}"

    def published(self, wildcards: Wildcards) -> str | list[str]:
        """The published figures of a data set, where there are some."""
        file = f"config/published/captions/{wildcards.dataset}.csv"
        return self.project.packaged(file) if (self.project.root / file).exists() else []

    def settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table says of its making."""
        captions = self.dataset(wildcards).captions
        return {
            "title": f"Sentences about images of {self.title(wildcards)}",
            "reference": captions.reference,
            "metrics": captions.metrics,
            "writers": self._writers(wildcards),
        }

    def _writers(self, wildcards: Wildcards) -> dict[str, dict[str, Any]]:
        """Title and seeds of whatever a data set's table compares; a person's sentences are the same for every seed."""
        dataset = self.dataset(wildcards)
        neighbour = self.project.variant(dataset.captions.neighbour, wildcards.dataset).title
        generated = {
            name: {"title": self.project.generator(name, wildcards.dataset).title, "seeds": dataset.seeds}
            for name in dataset.captions.generators
        }
        copied = {"title": f"copied from the nearest training image ({neighbour})", "seeds": dataset.seeds}
        return {**generated, COPIED: copied, PERSON: {"title": "a person", "seeds": [0]}}

"""Figures: which there are, and from which artifacts."""

from densevse.dag.project import Stage, Wildcards
from densevse.dag.tables import Tables

COMPARED = ("sco_ctx", "sco_cnp_ctx", "sco")
"""The variants side by side in SCO's Figure 4."""


class Figures(Stage):
    """Pictures of what was trained and found."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The figures of a data set that all methods have: of examples, one for each method, not for its variants."""
        folder, tables = f"{self.results}/figures/{dataset}", Tables(self.project)
        methods = sorted(self.config.methods.keys() & tables.variants(dataset).keys())
        return [
            f"{folder}/training_curves.svg",
            *(f"{folder}/examples/{name}.png" for name in methods),
            *([f"{folder}/concepts.png"] if tables.with_concepts(dataset) else []),
        ]

    def of_phrases(self, dataset: str) -> list[str]:
        """The figures of methods (not of their variants) that represent phrases and regions, of the first seed."""
        figures = []
        for name in self.config.methods.keys() & Tables(self.project).with_phrases(dataset).keys():
            files = ["embedding.svg", "region_phrases.png"]
            files += ["correspondences.png"] if self.config.methods[name].last_round else []
            figures += [f"{self.results}/figures/{dataset}/{name}/{file}" for file in files]
        return sorted(figures)

    def of_alignments(self, dataset: str) -> list[str]:
        """The figures of variants that align regions with triplets; and, where phrases have true boxes, how right."""
        tables = Tables(self.project)
        wanted = []
        for name, entry in tables.variants(dataset).items():
            if "triplets" in entry.sentences and "regions" in entry.views:
                folder = f"{self.results}/figures/{dataset}/{name}"
                wanted += [f"{folder}/alignments.png", f"{folder}/triplet_regions.png"]
                if tables.phrases_have_boxes(dataset):
                    wanted += [f"{self.folder_of_round('alignments', dataset, name)}/accuracy.parquet"]
        return wanted

    def of_saliency(self, dataset: str) -> list[str]:
        """What the methods (not their variants) that attend to something attend to, of the first seed."""
        names = sorted(self.config.methods.keys() & Tables(self.project).with_saliency(dataset).keys())
        files = ("saliency.png", "average_saliency.png")
        return [f"{self.results}/figures/{dataset}/{name}/{file}" for name in names for file in files]

    def titles_of_two(self, wildcards: Wildcards) -> list[str]:
        """The titles of a variant and of another one."""
        names = (wildcards.variant, wildcards.other)
        return [self.project.variant(name, wildcards.dataset).title for name in names]

    def runs(self, wildcards: Wildcards) -> dict[str, list[list[str]]]:
        """Variant -> for each seed the histories of its rounds."""
        return {
            name: [
                [
                    f"{self.folder_of_round('models', wildcards.dataset, name, seed, number)}/history.parquet"
                    for number in range(entry.last_round + 1)
                ]
                for seed in self.dataset(wildcards).seeds
            ]
            for name, entry in Tables(self.project).variants(wildcards.dataset).items()
        }

    def histories(self, wildcards: Wildcards) -> list[str]:
        """All histories of a data set's variants."""
        return [path for runs in self.runs(wildcards).values() for run in runs for path in run]

    def title_of_variant(self, wildcards: Wildcards) -> str:
        """The title of a variant's figure."""
        return f"{self.variant(wildcards).title} ({wildcards.variant}) on {self.title(wildcards)}"

    def alignments(self, wildcards: Wildcards) -> str:
        """The alignments of the last round of a variant's first seed."""
        return f"{self.folder_of_round('alignments', wildcards.dataset, wildcards.variant)}/test.parquet"

    def triplet_regions(self, wildcards: Wildcards) -> str:
        """The best regions of fixed triplets, by the same model."""
        return f"{self.folder_of_round('alignments', wildcards.dataset, wildcards.variant)}/triplet_regions.parquet"

    def triplets(self, wildcards: Wildcards) -> list[list[str]]:
        """The triplets whose best regions are shown besides those of the frequent ones."""
        return self.dataset(wildcards).triplets_shown

    def retrieval(self, wildcards: Wildcards) -> str:
        """What a model's images ranked first."""
        kind = f"retrieval/{Tables(self.project).first_protocol(wildcards.dataset)}"
        run = (wildcards.dataset, wildcards.variant, wildcards.seed, wildcards.round)
        return f"{self.folder_of_round(kind, *run)}.parquet"

    def example(self, wildcards: Wildcards) -> str:
        """The retrieval of the last round of a variant's first seed."""
        return self._example(wildcards, wildcards.variant)

    def compared(self, wildcards: Wildcards) -> list[str]:
        """The same of each variant that SCO's Figure 4 compares."""
        return [self._example(wildcards, variant) for variant in COMPARED]

    def titles_compared(self, wildcards: Wildcards) -> list[str]:
        """The titles of these variants."""
        return [self.project.variant(variant, wildcards.dataset).title for variant in COMPARED]

    def title_of_comparison(self, wildcards: Wildcards) -> str:
        """The title of their figure."""
        return f"The best sentences of images of {self.title(wildcards)}"

    def title_of_concepts(self, wildcards: Wildcards) -> str:
        """The title of the figure of concepts."""
        return f"Concepts of images of {self.title(wildcards)}, with their scores"

    def _example(self, wildcards: Wildcards, variant: str) -> str:
        tables = Tables(self.project)
        protocol = tables.first_protocol(wildcards.dataset)
        return tables.retrieval(wildcards.dataset, protocol, variant, self.dataset(wildcards).seeds[0])

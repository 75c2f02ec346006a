"""Searches in the plan: their queries, what they search, and their answers."""

from collections.abc import Callable
from typing import Any

from densevse.analyses.searches.settings import (
    OwnData,
    Search,
    SearchSettings,
    folder_of_photographs,
    folder_of_sentences,
)
from densevse.config.given import GivenFiles
from densevse.config.methods import MethodConfig
from densevse.dag.datasets import DatasetStage
from densevse.dag.inputs import InputFiles
from densevse.dag.paths import Values, Wildcards
from densevse.dag.project import Stage, any_of
from densevse.dag.training import TrainingStage
from densevse.runtime.errors import InputError

OWN_SPLIT = "test"
"""The split of a person's own sentences and photographs, from which nothing is learned."""


class SearchStage(Stage):
    """The searches of the configuration."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The pages of all searches of a data set that need no user's files."""
        entries = {name: entry for name, entry in self._searches().items() if entry.variant not in self.config.given()}
        names = [name for name, entry in entries.items() if entry.dataset == dataset and entry.photographs is None]
        return [f"{self.results}/search/{name}.{kind}" for name in names for kind in ("md", "html")]

    def names(self) -> str:
        """Every search."""
        return any_of(self._searches())

    def of_trained(self) -> str:
        """The searches that use a trained model."""
        return any_of(name for name, entry in self._searches().items() if entry.variant not in self.config.given())

    def of_given(self) -> str:
        """The searches that use a given row."""
        return any_of(name for name, entry in self._searches().items() if entry.variant in self.config.given())

    def entry(self, search: str) -> Search:
        """A search's settings."""
        return self._searches()[search]

    def with_photographs(self) -> str:
        """The photographs of searches."""
        return any_of(name for name, entry in self._brought().items() if entry.local)

    def with_sentences(self) -> str:
        """The sentences of searches."""
        return any_of(name for name, entry in self._brought().items() if not entry.local)

    def photographs(self, dataset: str) -> str:
        """The user's folder, zip or tar of photographs."""
        return self.dataset(dataset).local["photographs"]

    def sentences(self, dataset: str) -> list[str]:
        """The sentences of a search."""
        return self.entry(dataset.removeprefix(folder_of_sentences(""))).sentences

    def inputs_of_images(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts that a variant reads of a data set's images, or of a search's photographs."""
        dataset, variant, training = wildcards.dataset, wildcards.variant, TrainingStage(self.project)
        inputs = training.inputs_of_images(dataset, variant)
        if self.variant(dataset, variant).generator is None:
            return inputs
        if isinstance(self.dataset(dataset), OwnData):
            raise InputError(
                f"searches: {variant} reads generated sentences about images, which your photographs do not have; "
                "name another variant."
            )
        words = f"{self.results}/{dataset}/vocabulary/words.parquet"
        return {**inputs, **training.written(wildcards, variant), "words": words}

    def inputs_of_sentences(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts that the variant reads of the sentences that are queries or searched."""
        entry = self.entry(wildcards.search)
        dataset = folder_of_sentences(wildcards.search) if entry.sentences else entry.dataset
        return TrainingStage(self.project).inputs_of_sentences(dataset, entry.variant)

    def model(self, dataset: str, variant: str, seed: int, round: int) -> Values:
        """The trained model that encodes images."""
        return {"dataset": self.trained_on(dataset), **self.round_of(dataset, variant, seed, round)}

    def images(self, search: str) -> str:
        """The data set of the images that are queries or searched."""
        entry = self.entry(search)
        return entry.dataset if entry.photographs is None else folder_of_photographs(entry)

    def image_table(self, search: str) -> Values:
        """The data set of their image table."""
        return {"dataset": self.images(search)}

    def sources(self, search: str) -> list[str]:
        """The files of these images."""
        stage, images = DatasetStage(self.project), self.images(search)
        stage.check_pictures(images)
        return list(stage.sources_by_name(images).values())

    def source_names(self, search: str) -> list[str]:
        """The names of these files."""
        return DatasetStage(self.project).source_names(self.images(search))

    def encodings(self, search: str) -> Values:
        """These images as the model encodes them."""
        entry, images = self.entry(search), self.images(search)
        split = entry.split if entry.photographs is None else OWN_SPLIT
        return {"dataset": images, "split": split, **self.last_round(images, entry.variant, entry.seed)}

    def model_of_search(self, search: str) -> Values:
        """The trained model that a search uses."""
        entry = self.entry(search)
        return {"dataset": entry.dataset, **self.last_round(entry.dataset, entry.variant, entry.seed)}

    def given_file(self, key: str) -> Callable[..., str | None]:
        """The file of a key, such as `images`, of a search's given row; None if it has none."""

        def file(search: str) -> str | None:
            return self._given_files(search).get(key)

        return file

    def given_files(self, search: str) -> list[str]:
        """All user's files that a search of a given row reads."""
        return list(self._given_files(search).values())

    def layout(self, search: str) -> dict[str, Any]:
        """The meaning of the rows and columns of a given row's files."""
        return self._given(search).layout.model_dump(mode="json")

    def question(self, search: str) -> dict[str, Any]:
        """The question to a given row, as `Question`."""
        entry = self.entry(search)
        asked = {key: getattr(entry, key) for key in ("image_ids", "caption_ids", "sentences", "top")}
        return {"ranked_sentences": self.dataset(entry.dataset).sentences, **asked}

    def code(self, search: str) -> str:
        """The code of a search."""
        entry = self.entry(search)
        modules = TrainingStage(self.project).modules(entry.dataset, entry.variant)
        return self.project.code.digest("analyses/searches/search.py", *modules)

    def threads_of_search(self, search: str) -> int:
        """The threads of a search."""
        return self.threads(self.entry(search).dataset)

    def split_of_sentences(self, search: str) -> str:
        """The split of the sentences that are queries or searched."""
        entry = self.entry(search)
        return OWN_SPLIT if entry.sentences else entry.split

    def asked(self, search: str) -> str:
        """The queries: sentences or photographs."""
        return self.entry(search).asked

    def top(self, search: str) -> int:
        """The number of answers to a query."""
        return self.entry(search).top

    def shown(self, search: str) -> int:
        """The number of queries that the pages show."""
        return self.entry(search).shown

    def title_of_search(self, search: str) -> str:
        """The title of a search's pages."""
        entry = self.entry(search)
        dataset = self.config.datasets[entry.dataset].title
        if entry.variant in self.config.given():
            return self._title_of_given(entry, dataset)
        if entry.asked == "sentences":
            searched = "your photographs" if entry.photographs else f"the {entry.split} images of {dataset}"
        else:
            searched = "your sentences" if entry.sentences else f"the {entry.split} sentences of {dataset}"
        method = self._variant(entry)
        trained = "not trained here" if method.untrained else f"trained on {dataset}"
        return f"Your {entry.asked}, asked of {searched}, by {method.title}, {trained}"

    def _title_of_given(self, entry: Search, dataset: str) -> str:
        title = self.config.given()[entry.variant].title or entry.variant
        asked = "Your sentences" if entry.sentences else "Test sentences" if entry.caption_ids else "Test images"
        searched = "sentences" if entry.image_ids else "images"
        return f"{asked}, asked of the test {searched} of {dataset}, by {title} (given)"

    def _given(self, search: str) -> GivenFiles:
        entry = self.entry(search)
        return self.config.given()[entry.variant].on(entry.dataset)

    def _given_files(self, search: str) -> dict[str, str]:
        entry = self.entry(search)
        own = {"vectors": entry.vectors} if entry.vectors else {}
        return self._given(search).files(entry.seed or 0) | own

    def _searches(self) -> dict[str, Search]:
        return dict(self.config.analysis(SearchSettings).items())

    def _brought(self) -> dict[str, OwnData]:
        return {name: entry for name, entry in self.project.datasets.items() if isinstance(entry, OwnData)}

    def _variant(self, entry: Search) -> MethodConfig:
        return self.project.variant(entry.variant, entry.dataset)

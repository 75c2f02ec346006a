"""Searches in the plan: their queries, what they search, and their answers."""

from typing import NamedTuple

from densevse.analyses.searches.settings import (
    OwnData,
    Search,
    SearchSettings,
    photograph_folder,
    sentence_folder,
)
from densevse.config.given import GivenFiles
from densevse.config.values import DatasetName
from densevse.dag.datasets import DatasetStage
from densevse.dag.fields import LAYOUT, dump_fields
from densevse.dag.inputs import InputFiles
from densevse.dag.project import Stage
from densevse.dag.training import TrainingStage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards

OWN_SPLIT = "test"
"""The split of a person's own sentences and photographs, from which nothing is learned."""


class Served(NamedTuple):
    """The inputs of the server of a search. Files about images and sentences have the names of `Files`."""

    title: str
    model: str
    encodings: str  # of the images that are searched
    images: InputFiles  # about these images
    sources: dict[str, str]  # source -> the folder, zip or tar with their pictures
    sentences: InputFiles  # about the data set's sentences, which a photograph finds
    split: str  # of these
    threads: int
    made: list[str]  # the files that the workflow makes for the server


class SearchStage(Stage):
    """The searches of the configuration."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The pages of all searches of a data set that need no user's files."""
        return [
            f"{self.results}/search/{name}.{kind}"
            for name, entry in self.config.analysis(SearchSettings).items()
            if entry.dataset == dataset and entry.photographs is None and entry.variant not in self.config.given_rows()
            for kind in ("md", "html")
        ]

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
        return {**inputs, **training.generated_inputs(wildcards, variant), "words": words}

    def inputs_of_sentences(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts that the variant reads of the sentences that are queries or searched."""
        entry = self._entry(wildcards.search)
        dataset = sentence_folder(wildcards.search) if entry.sentences else entry.dataset
        return TrainingStage(self.project).inputs_of_sentences(dataset, entry.variant)

    def image_table(self, search: str) -> Values:
        """The data set of the images that are queries or searched."""
        return {"dataset": self._image_dataset(search)}

    def sources(self, search: str) -> list[str]:
        """The files of the images that are queries or searched."""
        stage, images = DatasetStage(self.project), self._image_dataset(search)
        stage.check_pictures(images)
        return list(stage.sources_by_name(images).values())

    def encodings(self, search: str) -> Values:
        """The encodings by the model of the images that are queries or searched: values of their path."""
        entry, images = self._entry(search), self._image_dataset(search)
        split = entry.split if entry.photographs is None else OWN_SPLIT
        return {"dataset": images, "split": split, **self.last_round(images, entry.variant, entry.seed)}

    def server_inputs(self, search: str) -> Served:
        """The inputs of the server of a search. Raises `InputError` if CoreNLP would have to parse each sentence."""
        entry, images, encoded = self._entry(search), self._image_dataset(search), self.encodings(search)
        training, files = TrainingStage(self.project), DatasetStage(self.project)
        sentences = training.inputs_of_sentences(entry.dataset, entry.variant)
        if "parses" in sentences:
            self._check_parser(entry)
        files.check_pictures(images)
        encodings = f"{self.artifact_folder('encodings', images, encoded)}/{encoded['split']}.parquet"
        sources = files.sources_by_name(images)
        made = [path for name, path in sources.items() if name not in self.dataset(images).local]
        made += [path for named in sentences.values() for path in ([named] if isinstance(named, str) else named)]
        return Served(
            title=self._title(entry),
            model=f"{self.artifact_folder('models', entry.dataset, self.search_model(search))}/model.safetensors",
            encodings=encodings,
            images=training.inputs_of_images(images, entry.variant),
            sources=sources,
            sentences=sentences,
            split=entry.split,
            threads=self.threads(entry.dataset),
            made=[encodings, *made],
        )

    def search_model(self, search: str) -> Values:
        """The trained model that a search uses."""
        entry = self._entry(search)
        return {"dataset": entry.dataset, **self.last_round(entry.dataset, entry.variant, entry.seed)}

    def given_files(self, search: str) -> dict[str, str]:
        """The user's files that a search of a given row reads, by key."""
        entry = self._entry(search)
        own = {"vectors": entry.vectors} if entry.vectors else {}
        return self._given_row(search).files(entry.seed or 0) | own

    def job(self, search: str) -> Job:
        """A search by a trained model, with the split of the sentences that are queries or searched."""
        entry = self._entry(search)
        split, threads = OWN_SPLIT if entry.sentences else entry.split, self.threads(entry.dataset)
        settings = {"split": split, "asked": entry.query_kind, "top": entry.top, "threads": threads}
        return Job(settings, TrainingStage(self.project).modules(entry.dataset, entry.variant))

    def given_job(self, search: str) -> Job:
        """A search with a given row: the meaning of its files' rows and columns, and the question, as `Question`."""
        entry = self._entry(search)
        question = {
            "ranked_sentences": self.dataset(entry.dataset).sentences,
            **{key: getattr(entry, key) for key in ("image_ids", "caption_ids", "sentences", "top")},
        }
        layout = dump_fields(self._given_row(search).layout, LAYOUT)
        return Job({"layout": layout, "question": question})

    def pages_job(self, search: str) -> Job:
        """The pages of a search."""
        entry = self._entry(search)
        settings = {"asked": entry.query_kind, "title": self._title(entry), "shown": entry.shown}
        return Job({**settings, "source_names": self.source_names(self._image_dataset(search))})

    def _check_parser(self, entry: Search) -> None:
        """Raises `InputError` if the data set's parser is not the grammar of scenes, which parses at once."""
        parser = self.dataset(entry.dataset).parser
        if self.config.parsers[parser].kind != "grammar":
            raise InputError(
                f"--serve: {entry.variant} reads parses, and {parser} would have to be started for each sentence. "
                "Leave --serve out, or name a variant that reads words alone, such as vse."
            )

    def _title(self, entry: Search) -> str:
        dataset = self.config.datasets[entry.dataset].title
        if entry.variant in self.config.given_rows():
            title = self.config.given_rows()[entry.variant].title or entry.variant
            asked = "Your sentences" if entry.sentences else "Test sentences" if entry.caption_ids else "Test images"
            searched = "sentences" if entry.image_ids else "images"
            return f"{asked}, asked of the test {searched} of {dataset}, by {title} (given)"
        if entry.query_kind == "sentences":
            searched = "your photographs" if entry.photographs else f"the {entry.split} images of {dataset}"
        else:
            searched = "your sentences" if entry.sentences else f"the {entry.split} sentences of {dataset}"
        method = self.project.variant(entry.dataset, entry.variant)
        trained = "not trained here" if method.is_untrained else f"trained on {dataset}"
        return f"Your {entry.query_kind}, asked of {searched}, by {method.title}, {trained}"

    def _given_row(self, search: str) -> GivenFiles:
        entry = self._entry(search)
        return self.config.given_rows()[entry.variant].dataset_files(entry.dataset)

    def _entry(self, search: str) -> Search:
        return self.config.analysis(SearchSettings).root[search]

    def _image_dataset(self, search: str) -> DatasetName:
        entry = self._entry(search)
        return entry.dataset if entry.photographs is None else photograph_folder(entry)

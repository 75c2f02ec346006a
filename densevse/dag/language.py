"""Parses of sentences and vocabularies of training sentences in the plan."""

from densevse.config.strict import DatasetName
from densevse.dag.fields import WORD_VECTORS_FILE, passed, whole
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage


class ParseStage(Stage):
    """The parsers of sentences."""

    def job(self, parser: str) -> Job:
        """The parsing of sentences by CoreNLP: all its options but the memory, which decides no parse."""
        options = whole(self.config.parsers[parser].options)
        return Job({"options": {name: value for name, value in options.items() if name != "memory_mb"}})

    def images(self, dataset: DatasetName) -> Values | None:
        """No further values if sentences have images, or else None."""
        return {} if self.dataset(dataset).sentences_have_images else None

    def of_dataset_parser(self, dataset: DatasetName) -> list[Values]:
        """The shards of a data set's parses, by its parser."""
        of = self.images_of(dataset)
        return self.shards(of, dataset=of, parser=self.dataset(of).parser)


class VocabularyStage(Stage):
    """Vocabularies and pre-trained word vectors."""

    def picked(self, dataset: DatasetName) -> Values | None:
        """The pre-trained vectors of a data set's words, if it uses any."""
        name = self.dataset(dataset).word_vectors
        return {"vectors": name} if name else None

    def vectors_job(self, vectors: str) -> Job:
        """The reading of word vectors: all settings but the place of their file."""
        return Job({"settings": passed(self.config.word_vectors[vectors], WORD_VECTORS_FILE)})

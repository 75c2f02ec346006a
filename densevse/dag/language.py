"""Parses of sentences and vocabularies of training sentences in the plan."""

from densevse.config.environment import corenlp_home
from densevse.dag.fields import WORD_VECTORS_FILE, passed, whole
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage, any_of


class ParseStage(Stage):
    """The parsers of sentences."""

    def corenlp(self) -> str | Values:
        """The folder of CoreNLP's jars: the user's (CORENLP_HOME), or the one that the workflow obtains.

        Raises `InputError` if CORENLP_HOME is an address.
        """
        return corenlp_home() or {}

    def parsers_of(self, kind: str) -> str:
        """The parsers of a kind."""
        return any_of(name for name, parser in self.config.parsers.items() if parser.kind == kind)

    def job(self, parser: str) -> Job:
        """The parsing of sentences by CoreNLP: all its options but the memory, which decides no parse."""
        options = whole(self.config.parsers[parser].options)
        return Job({"options": {name: value for name, value in options.items() if name != "memory_mb"}})

    def memory(self, parser: str) -> int:
        """The memory that a parsing job requests, in MB."""
        return int(self.config.parsers[parser].options.model_dump()["memory_mb"])

    def images(self, dataset: str) -> Values | None:
        """No further values if sentences have images, or else None."""
        return {} if self.dataset(dataset).sentences_have_images else None

    def of_dataset_parser(self, dataset: str) -> list[Values]:
        """The shards of a data set's parses, by its parser."""
        of = self.images_of(dataset)
        return self.shards(of, dataset=of, parser=self.dataset(of).parser)


class VocabularyStage(Stage):
    """Vocabularies and pre-trained word vectors."""

    def count_job(self, dataset: str) -> Job:
        """The count of words: the least number of occurrences of a known word in the training sentences."""
        return Job({"minimum": self.dataset(dataset).minimum_word_count})

    def concept_job(self, dataset: str) -> Job:
        """The mining of concepts: the number that is kept."""
        return Job({"most": self.dataset(dataset).concepts})

    def picked(self, dataset: str) -> Values | None:
        """The pre-trained vectors of a data set's words, if it uses any."""
        name = self.dataset(dataset).word_vectors
        return {"vectors": name} if name else None

    def vectors_job(self, vectors: str) -> Job:
        """The reading of word vectors: all settings but the place of their file."""
        return Job({"settings": passed(self.config.word_vectors[vectors], WORD_VECTORS_FILE)})

    def file_of_vectors(self, vectors: str) -> str | Values:
        """The file of pre-trained vectors: the user's own, or its name below resources/<vectors>/."""
        entry = self.config.word_vectors[vectors]
        return entry.local or {"file": entry.source.file if entry.source else ""}

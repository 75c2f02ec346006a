"""Parses of sentences, and what the training sentences are made of."""

import os
from typing import Any

from densevse.analyses.searches.settings import Own
from densevse.dag.project import Stage, Wildcards, any_of


class Parses(Stage):
    """Who parses sentences, and where the parses are."""

    def corenlp(self) -> str | list[str]:
        """The folder of CoreNLP's jars that the workflow obtains, unless CORENLP_HOME names one."""
        return [] if os.environ.get("CORENLP_HOME") else f"{self.resources}/corenlp"

    def parsers_of(self, kind: str) -> str:
        """The parsers of a kind."""
        return any_of(name for name, parser in self.config.parsers.items() if parser.kind == kind)

    def options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides how a sentence is parsed; the memory does not."""
        options = self.read_by("parse.py", self.config.parsers[wildcards.parser].options)
        return {name: value for name, value in options.items() if name != "memory_mb"}

    def memory(self, wildcards: Wildcards) -> int:
        """What a parsing job asks for, in MB."""
        return int(self.config.parsers[wildcards.parser].options.model_dump()["memory_mb"])

    def images(self, wildcards: Wildcards) -> str | list[str]:
        """The images whose sentences are parsed; those that a search brings have none."""
        own = isinstance(self.dataset(wildcards), Own)
        return [] if own else f"{self.results}/{wildcards.dataset}/images.parquet"

    def files(self, wildcards: Wildcards) -> list[str]:
        """The parses of a data set's sentences by its parser."""
        parser = self.dataset(wildcards).parser
        return self.shards(f"{self.results}/{wildcards.dataset}/parses/{parser}", wildcards.dataset)


class Words(Stage):
    """Vocabularies and pre-trained word vectors."""

    def minimum(self, wildcards: Wildcards) -> int:
        """How often a word must occur in the training sentences to be one."""
        return self.dataset(wildcards).minimum_word_count

    def most_concepts(self, wildcards: Wildcards) -> int:
        """How many concepts are kept."""
        return self.dataset(wildcards).concepts

    def picked(self, wildcards: Wildcards) -> str | list[str]:
        """The pre-trained vectors of a data set's words, where it has some."""
        name = self.dataset(wildcards).word_vectors
        return f"{self.results}/{wildcards.dataset}/vocabulary/vectors-{name}.parquet" if name else []

    def published_relations(self) -> str:
        """The numbers of relations that the paper prints."""
        return self.project.packaged("config/published/relations/defrag.csv")

    def vectors(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which vectors are read; where the file lies does not."""
        values = self.read_by("pick_word_vectors.py", self.config.word_vectors[wildcards.vectors])
        return {name: values[name] for name in ("dimension", "format", "member")}

    def file_of_vectors(self, wildcards: Wildcards) -> str:
        """The file of pre-trained vectors."""
        vectors = self.config.word_vectors[wildcards.vectors]
        return self.obtained(wildcards.vectors, vectors.source, vectors.local)

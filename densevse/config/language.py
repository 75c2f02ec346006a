"""Parsers of sentences and pre-trained word vectors."""

from typing import Annotated, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from densevse.config.options import of_type
from densevse.config.sources import Path, Source
from densevse.config.strict import Strict


class CoreNLP(Strict):
    """Stanford CoreNLP."""

    model: str = Field(min_length=1, description="the constituency parser, a path inside the models' jars")
    longest: int = Field(ge=1, description="tokens; a longer sentence is recorded as not parsed")
    annotators: list[str] = Field(
        default=["tokenize", "ssplit", "pos", "lemma", "parse", "depparse"],
        min_length=1,
        description="CoreNLP's steps, in their order",
    )
    batch: int = Field(50, ge=1, description="captions in one request")
    timeout: float = Field(120, gt=0, description="seconds that a request may take")
    memory_mb: int = Field(4000, ge=2500, description="what the job asks for, Python's part included")


class Grammar(Strict):
    """The grammar of the sentences of scenes: there is nothing to choose."""


PARSERS: dict[str, type[Strict]] = {"corenlp": CoreNLP, "grammar": Grammar}


class ParserConfig(Strict):
    """Who parses sentences."""

    kind: Literal["corenlp", "grammar"] = Field(description="the program that parses")
    options: Annotated[SerializeAsAny[Strict], of_type("kind", PARSERS)] = Field(
        default={}, validate_default=True, description="of this kind"
    )


class WordVectors(Strict):
    """Pre-trained word vectors."""

    format: Literal["word2vec", "glove"] = Field(description="the layout of the file")
    source: Source | None = Field(None, description="published vectors")
    local: Path | None = Field(None, description="a file of yours to use instead, plain or packed (.gz, .zip)")
    member: str | None = Field(None, min_length=1, description="which file of a .zip")
    dimension: int = Field(ge=1, description="numbers in a vector")

    @model_validator(mode="after")
    def _has_a_file(self) -> Self:
        if not (self.source or self.local):
            raise ValueError("word vectors have a source or local (a file of yours)")
        return self

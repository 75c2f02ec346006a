"""Parsers of sentences and pre-trained word vectors."""

from typing import Annotated, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from densevse.config.sources import Path, Source
from densevse.config.strict import Strict, of_type


class CoreNLP(Strict):
    """Stanford CoreNLP."""

    model: str = Field(min_length=1, description="the constituency parser, a path inside the models' jars")
    longest: int = Field(ge=1, description="the longest sentence in tokens; longer ones are recorded as not parsed")
    annotators: list[str] = Field(
        default=["tokenize", "ssplit", "pos", "lemma", "parse", "depparse"],
        min_length=1,
        description="CoreNLP's steps, in their order",
    )
    batch: int = Field(50, ge=1, description="captions in one request")
    timeout: float = Field(120, gt=0, description="the time-out of a request in seconds")
    memory_mb: int = Field(4000, ge=2500, description="the memory that the job requests, in MB, with Python's part")


class Grammar(Strict):
    """The grammar of the sentences of scenes, which has no options."""


PARSERS: dict[str, type[Strict]] = {"corenlp": CoreNLP, "grammar": Grammar}


class ParserConfig(Strict):
    """A parser of sentences."""

    kind: Literal["corenlp", "grammar"] = Field(description="the program that parses")
    options: Annotated[SerializeAsAny[Strict], of_type("kind", PARSERS)] = Field(
        default={}, validate_default=True, description="of this kind"
    )


class WordVectors(Strict):
    """Pre-trained word vectors."""

    format: Literal["word2vec", "glove"] = Field(description="the layout of the file")
    source: Source | None = Field(None, description="published vectors")
    local: Path | None = Field(None, description="your own file to use in its place, plain or compressed (.gz, .zip)")
    member: str | None = Field(None, min_length=1, description="the file to read in a .zip")
    dimension: int = Field(ge=1, description="the length of a vector")

    @model_validator(mode="after")
    def _has_a_file(self) -> Self:
        if not (self.source or self.local):
            raise ValueError("word vectors need a source or local (your own file)")
        return self

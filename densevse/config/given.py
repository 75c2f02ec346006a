"""Rows that are given: scores or embeddings that a model from elsewhere has made of a test split."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from densevse.config.sources import Path
from densevse.config.strict import Strict

FORMS = (("scores",), ("i2t", "t2i"), ("images", "sentences"))
"""The keys that name matrices and belong together; a given row has one of these."""

ID_FILES = ("image_ids", "caption_ids")


def _listed(files: Any) -> Any:
    return [files] if isinstance(files, str) else files


SeedFiles = Annotated[list[Path], Field(min_length=1), BeforeValidator(_listed, json_schema_input_type=str | list[str])]
"""A file for each seed; one alone may stand without a list."""


class GivenLayout(Strict):
    """What the rows and columns of given matrices are."""

    similarity: Literal["cosine", "dot", "order"] | None = Field(
        None, description="the score of two vectors; order: minus the order-violation penalty, -||max(0, s - i)||^2"
    )
    copies: int = Field(
        1, ge=1, description="how often each image stands there, one copy after the other: 5 in the files of VSE++"
    )
    unscored: Literal["nan", "-inf"] | None = Field(
        None, description="the mark of pairs without a score, as re-ranking leaves them; they stand behind all others"
    )


class GivenFiles(GivenLayout):
    """The scores of all pairs of a test split, or vectors of its images and its sentences.

    Files are npy, npz, Parquet or safetensors. Several of a key are those of several seeds.
    """

    scores: SeedFiles | None = Field(None, description="(images, sentences)")
    i2t: SeedFiles | None = Field(None, description="(images, sentences) where images ask; needs t2i")
    t2i: SeedFiles | None = Field(None, description="(sentences, images) where sentences ask; needs i2t")
    images: SeedFiles | None = Field(None, description="(images, D) vectors; needs sentences and similarity")
    sentences: SeedFiles | None = Field(None, description="(sentences, D) vectors; needs images and similarity")
    image_ids: Path | None = Field(
        None, description="an id a line (or npy): the order of the images; by default that of images.parquet"
    )
    caption_ids: Path | None = Field(
        None, description="an id a line (or npy): the order of the sentences; by default by image, then position"
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = tuple(key for form in FORMS for key in form if getattr(self, key))
        if given not in FORMS:
            forms = ", or ".join(" and ".join(form) for form in FORMS)
            raise ValueError(f"found {' and '.join(given) or 'no matrix'}; give {forms}")
        for key in given[1:]:
            if len(getattr(self, key)) != len(getattr(self, given[0])):
                raise ValueError(f"{key}: as many files are needed as of {given[0]}, one for each seed")
        return self

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        if (self.images is None) != (self.similarity is None):
            raise ValueError("similarity: it is needed for vectors of images and sentences, and for nothing else")
        if self.images and self.unscored:
            raise ValueError("unscored: vectors give every pair a score; leave it out")
        return self

    @property
    def seeds(self) -> list[int]:
        """The seeds of the files: their places in the lists."""
        return list(range(max(len(files) for _, files in self._matrices())))

    def files(self, seed: int) -> dict[str, str]:
        """Key -> the file of a seed."""
        ids = {key: getattr(self, key) for key in ID_FILES if getattr(self, key)}
        return {key: files[seed] for key, files in self._matrices()} | ids

    def paths(self) -> Iterator[tuple[str, str]]:
        """Every file of every seed, with its key."""
        yield from dict.fromkeys(item for seed in self.seeds for item in self.files(seed).items())

    @property
    def layout(self) -> GivenLayout:
        """The layout alone."""
        return GivenLayout(**{key: getattr(self, key) for key in GivenLayout.model_fields})

    def _matrices(self) -> Iterator[tuple[str, list[str]]]:
        yield from ((key, getattr(self, key)) for form in FORMS for key in form if getattr(self, key))


class GivenThere(Strict):
    """The files of another data set."""

    given: GivenFiles


class GivenEntry(Strict):
    """A row without training: files of scores or embeddings, named in a table by `measure` as any method."""

    title: str | None = Field(None, min_length=1, description="as printed in a table; by default the entry's name")
    given: GivenFiles
    datasets: dict[str, GivenThere] = Field(default={}, description="data set -> its files, instead of these")

    def paths(self) -> Iterator[tuple[str, str]]:
        """Every file, with the path of its key."""
        yield from ((f"given.{key}", path) for key, path in self.given.paths())
        for name, there in self.datasets.items():
            yield from ((f"datasets.{name}.given.{key}", path) for key, path in there.given.paths())

    def on(self, dataset: str) -> GivenFiles:
        """The files of a data set."""
        return self.datasets[dataset].given if dataset in self.datasets else self.given

"""Given rows: scores or embeddings of a test split that another model computed."""

import filecmp
import os.path
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from densevse.config.sources import Path, as_list
from snakeproof.strict import Strict, Title

FORMS = (("scores",), ("i2t", "t2i"), ("images", "sentences"), ("network",))
"""The groups of keys that name matrices, or what makes vectors; a given row has one of these groups."""

ID_FILES = ("image_ids", "caption_ids")


def check_different(seeds: Sequence[Sequence[str]]) -> None:
    """Raises `ValueError` that names two seeds of which all files are equal; `seeds` has the files of each."""
    for (first, one), (second, other) in combinations(enumerate(seeds), 2):
        if are_equal(one, other):
            raise ValueError(
                f"seeds {first} and {second} have the same contents: {', '.join(one)} and {', '.join(other)}. One "
                "model that is there twice shows no spread, so name the files of another training, or leave these out"
            )


def are_equal(files: Sequence[str], others: Sequence[str]) -> bool:
    """True if each of some files is equal to one of others, by path, or by content where both are there."""
    return all(
        one == other or (os.path.isfile(one) and os.path.isfile(other) and filecmp.cmp(one, other, shallow=False))
        for one, other in zip(files, others, strict=True)
    )


SeedFiles = Annotated[list[Path], Field(min_length=1), BeforeValidator(as_list, json_schema_input_type=str | list[str])]
"""A file for each seed; a single one needs no list."""


Similarity = Literal["cosine", "dot", "order", "max_sum", "max_sum_of_query"]
SEVERAL = ("max_sum", "max_sum_of_query")
"""The similarities of items that have several vectors each."""


class GivenLayout(Strict):
    """The meaning of the rows and columns of given matrices."""

    similarity: Similarity | None = Field(
        None,
        description="the score of two vectors; order: minus the order-violation penalty, -||max(0, s - i)||^2. Of "
        "several vectors each: max_sum, the sum over the sentence's of the best of the image's, or max_sum_of_query, "
        "the sum over the query's of the best of the candidate's",
    )
    copies: int = Field(1, ge=1, description="the copies of each image, one after the other: 5 in the files of VSE++")
    unscored: Literal["nan", "-inf"] | None = Field(
        None, description="the mark of pairs without a score, as in re-ranking; they rank last"
    )
    lower_is_better: bool = Field(False, description="true for distances: the lowest score is the closest")


class GivenFiles(GivenLayout):
    """The scores of all pairs of a test split, or the vectors of its images and its sentences.

    Files are npy, npz, Parquet or safetensors. Several files of a key belong to several seeds.
    """

    scores: SeedFiles | None = Field(None, description="(images, sentences)")
    i2t: SeedFiles | None = Field(None, description="(images, sentences) where images ask; needs t2i")
    t2i: SeedFiles | None = Field(None, description="(sentences, images) where sentences ask; needs i2t")
    images: SeedFiles | None = Field(
        None, description="(images, D) vectors, or (images, n, D); needs sentences and similarity"
    )
    sentences: SeedFiles | None = Field(
        None, description="(sentences, D) vectors, or (sentences, n, D); needs images and similarity"
    )
    network: str | None = Field(
        None, description="a network of a folder (sentence_transformers:), which makes the vectors; needs similarity"
    )
    image_ids: Path | None = Field(
        None, description="an id a line (or npy): the order of the images; by default that of images.parquet"
    )
    caption_ids: Path | None = Field(
        None, description="an id a line (or npy): the order of the sentences; by default by image, then position"
    )

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        given = tuple(key for form in FORMS for key in form if getattr(self, key))
        if given not in FORMS:
            forms = ", or ".join(" and ".join(form) for form in FORMS)
            raise ValueError(f"found {' and '.join(given) or 'no matrix'}; give {forms}")
        if self.network and any(getattr(self, key) for key in ID_FILES):
            raise ValueError(f"network: {self.network} makes the vectors in the data set's order; remove the id files")
        for key in given[1:]:
            if len(getattr(self, key)) != len(getattr(self, given[0])):
                raise ValueError(f"{key}: as many files are needed as of {given[0]}, one for each seed")
        return self

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        by_vectors = bool(self.images or self.network)
        if by_vectors != (self.similarity is not None):
            raise ValueError(
                "similarity: it is required for vectors of images and sentences, and not allowed otherwise"
            )
        if self.network and self.copies > 1:
            raise ValueError(f"copies: {self.network} encodes each image once; remove the key")
        if by_vectors and self.unscored:
            raise ValueError("unscored: with vectors every pair has a score; remove the key")
        if by_vectors and self.lower_is_better:
            raise ValueError("lower_is_better: the similarity of vectors is higher for closer ones; remove the key")
        return self

    @model_validator(mode="after")
    def _check_seeds(self) -> Self:
        check_different([[files[seed] for _, files in self._matrices()] for seed in self.seeds])
        return self

    @property
    def seeds(self) -> list[int]:
        """The seeds of the files, which are their places in the lists."""
        return list(range(max((len(files) for _, files in self._matrices()), default=1)))

    def files(self, seed: int) -> dict[str, str]:
        """The user's file of each key for a seed; none if a network makes the vectors."""
        ids = {key: getattr(self, key) for key in ID_FILES if getattr(self, key)}
        return {key: files[seed] for key, files in self._matrices()} | ids

    @property
    def layout(self) -> GivenLayout:
        """The layout without the files."""
        return GivenLayout(**{key: getattr(self, key) for key in GivenLayout.model_fields})

    def _matrices(self) -> Iterator[tuple[str, list[str]]]:
        yield from ((key, getattr(self, key)) for form in FORMS[:-1] for key in form if getattr(self, key))


class GivenThere(Strict):
    """The files for another data set."""

    given: GivenFiles


class GivenEntry(Strict):
    """A row without training, which a table names in `measure` like any method: files, or an encoder in a folder."""

    title: Title | None = Field(None, description="the name in tables; by default the entry's name")
    given: GivenFiles
    datasets: dict[str, GivenThere] = Field(default={}, description="data set -> its files, in place of these")

    def dataset_files(self, dataset: str) -> GivenFiles:
        """The files of a data set."""
        return self.datasets[dataset].given if dataset in self.datasets else self.given

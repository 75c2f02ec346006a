"""Searches: config/searches/<name>.yaml becomes results/search/<name>.md and .html."""

import hashlib
import os
import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from densevse.config.datasets import Dataset
from densevse.config.sources import Path
from densevse.config.strict import Strict
from densevse.config.values import Seed, Split

Sentence = Annotated[str, Field(min_length=1)]


class Search(Strict):
    """A person's own sentences or photographs, asked of a trained model.

    Sentences alone are asked of a data set's images, photographs alone of its sentences. Where there are both, they are
    asked of each other.
    """

    dataset: str = Field(description="the data set that the model is trained on")
    variant: str = Field(description="the trained variant of config/methods")
    seed: Seed | None = Field(None, description="the training's seed; by default the data set's first")
    sentences: list[Sentence] = Field(default=[], description="sentences of yours")
    photographs: Path | None = Field(None, description="a folder (or zip or tar) with photographs of yours")
    queries: Literal["sentences", "photographs"] | None = Field(
        None, description="which of the two are asked, where there are both; by default the sentences"
    )
    split: Split = Field("test", description="the split of the data set that is searched")
    top: int = Field(5, ge=1, description="how many are found for each query")
    shown: int = Field(100, ge=1, description="the queries at most that the pages show; the Parquet file has all")

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.sentences and self.photographs is None:
            raise ValueError("a search needs sentences of yours, photographs of yours, or both")
        if self.queries is not None and not getattr(self, self.queries):
            raise ValueError(f"queries: there are no {self.queries} of yours to ask")
        return self

    @property
    def asked(self) -> Literal["sentences", "photographs"]:
        """What the queries are."""
        return self.queries or ("sentences" if self.sentences else "photographs")


class Own(Dataset):
    """What a person brings: photographs without sentences, or sentences without photographs.

    The stages treat it as they treat the data set `of`, on which the models were trained: the same networks in the same
    precision, the same proposer, parser and vocabulary.
    """

    of: str


def own_datasets(searches: dict[str, Search], datasets: dict[str, Dataset]) -> dict[str, Own]:
    """What all searches bring, by the name of its folder below results/.

    Photographs have a folder of their own, so that searches of the same photographs share what networks made of them.
    """
    found = {}
    for name, search in searches.items():
        if search.sentences:
            found[folder_of_sentences(name)] = _own(search, datasets, {})
        if search.photographs is not None:
            found[folder_of_photographs(search)] = _own(search, datasets, {"photographs": search.photographs})
    return found


def folder_of_sentences(name: str) -> str:
    """The folder of a search's sentences."""
    return f"search/{name}"


def folder_of_photographs(search: Search) -> str:
    """The folder of a search's photographs, called like the user's; a digest tells two of one name apart."""
    path = os.path.normpath(str(search.photographs))
    name = re.sub(r"[^\w-]+", "_", os.path.basename(path)).strip("_")
    return f"search/photographs/{search.dataset}/{name}-{hashlib.sha256(path.encode()).hexdigest()[:6]}"


def _own(search: Search, datasets: dict[str, Dataset], local: dict[str, str]) -> Own:
    base: dict[str, Any] = dict(datasets[search.dataset])
    base |= {"sources": {}, "known_unreadable": [], "boxes": None, "judgements": None}
    return Own.model_construct(**base | {"local": local, "shards": 1, "of": search.dataset})

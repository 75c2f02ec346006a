"""Settings of searches: `searches.<name>` becomes results/search/<name>.md and .html."""

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from densevse.config.analyses import Entries
from densevse.config.config import Config
from densevse.config.datasets import Brought
from densevse.config.names import known
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


class SearchSettings(Entries[Search]):
    """Search -> what is asked of which model."""

    def check(self, config: Config) -> None:
        """Raise `ValueError` for a data set or variant that does not exist, or that is given."""
        for name, search in self.items():
            where = f"searches.{name}"
            known(f"{where}.dataset", [search.dataset], config.datasets)
            if search.variant in config.given():
                raise ValueError(
                    f"{where}.variant: {search.variant} is given, without vectors of new sentences and photographs, "
                    "which a search compares; name a variant that is trained"
                )
            known(f"{where}.variant", [search.variant], config.variant_names())

    def paths(self) -> Iterator[tuple[str, str]]:
        """The photographs."""
        for name, search in self.items():
            if search.photographs:
                yield f"searches.{name}.photographs", search.photographs

    def datasets(self, config: Config) -> dict[str, Brought]:
        """The sentences and photographs of all searches, by the names of their folders below results/.

        Photographs have a folder of their own, so that searches of the same photographs share their features.
        """
        found = {}
        for name, search in self.items():
            if search.sentences:
                found[folder_of_sentences(name)] = _brought(search, config, {})
            if search.photographs is not None:
                found[folder_of_photographs(search)] = _brought(search, config, {"photographs": search.photographs})
        return found


def folder_of_sentences(name: str) -> str:
    """The folder of a search's sentences."""
    return f"search/{name}"


def folder_of_photographs(search: Search) -> str:
    """The folder of a search's photographs, called like the user's; a digest tells two of one name apart."""
    path = str(search.photographs)
    name = re.sub(r"[^\w-]+", "_", os.path.basename(path)).strip("_")
    return f"search/photographs/{search.dataset}/{name}-{hashlib.sha256(path.encode()).hexdigest()[:6]}"


def _brought(search: Search, config: Config, local: dict[str, str]) -> Brought:
    base: dict[str, Any] = dict(config.datasets[search.dataset])
    base |= {"sources": {}, "known_unreadable": [], "boxes": None}
    return Brought.model_construct(**base | {"local": local, "shards": 1, "of": search.dataset})

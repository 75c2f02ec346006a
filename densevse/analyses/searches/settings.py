"""Settings of searches: `searches.<name>` becomes results/search/<name>.md and .html."""

import hashlib
import os
import re
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from densevse.config.analyses import Entries
from densevse.config.config import Config
from densevse.config.datasets import BorrowingDataset
from densevse.config.given import GivenFiles
from densevse.config.sources import Path
from densevse.config.values import DatasetName, Seed, Split, VariantName
from snakeproof.strict import Strict, check_known_names

NotEmpty = Annotated[str, Field(min_length=1)]
ID_KEYS = ("caption_ids", "image_ids")


class Search(Strict):
    """A search with a person's own sentences or photographs, or within the test split of a given row.

    Sentences alone search a data set's images, and photographs alone its sentences. With both, one searches the other.
    """

    dataset: DatasetName = Field(description="the data set that the model is trained on")
    variant: VariantName = Field(description="the variant of config/methods: trained, or given by vectors")
    seed: Seed | None = Field(
        None, description="the training's seed; by default the data set's first, of a given row that of its first file"
    )
    sentences: list[NotEmpty] = Field(default=[], description="sentences of yours")
    photographs: Path | None = Field(None, description="a folder (or zip or tar) with your photographs")
    vectors: Path | None = Field(
        None, description="for a given row: a file with the vectors (sentences, D) of your sentences, in their order"
    )
    caption_ids: list[NotEmpty] = Field(
        default=[], description="for a given row: sentences of the test split that search its images"
    )
    image_ids: list[NotEmpty] = Field(
        default=[], description="for a given row: images of the test split that search its sentences"
    )
    queries: Literal["sentences", "photographs"] | None = Field(
        None, description="the queries, with both sentences and photographs; by default the sentences"
    )
    split: Split = Field("test", description="the split of the data set that is searched")
    top: int = Field(5, ge=1, description="the number of answers to each query")
    shown: int = Field(100, ge=1, description="the largest number of queries on the pages; the Parquet file has all")

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        own, ids = bool(self.sentences or self.photographs), [key for key in ID_KEYS if getattr(self, key)]
        if not own and not ids:
            raise ValueError("a search needs your own sentences, photographs, or both")
        if len(ids) + own > 1:
            raise ValueError(f"{ids[0]}: a search by ids allows no other queries; make another search of the rest")
        if self.vectors and not self.sentences:
            raise ValueError("vectors: they belong to your own sentences, which are missing; add the sentences")
        if self.queries is not None and not getattr(self, self.queries):
            raise ValueError(f"queries: the search has no {self.queries}")
        if self.split != "test" and self.sentences and self.photographs:
            raise ValueError("split: your sentences and photographs search each other, and no split; remove the key")
        return self

    @property
    def query_kind(self) -> Literal["sentences", "photographs"]:
        """The kind of the queries."""
        return self.queries or ("sentences" if self.sentences or self.caption_ids else "photographs")


class OwnData(BorrowingDataset):
    """A person's photographs without sentences, or sentences without photographs."""


class SearchSettings(Entries[Search]):
    """The searches, by name."""

    FOLDERS: ClassVar = frozenset({"search"})

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown data set or variant, or for one that cannot answer the search."""
        given = config.given_rows()
        for name, search in self.items():
            where = f"searches.{name}"
            check_known_names(f"{where}.dataset", [search.dataset], config.datasets)
            check_known_names(f"{where}.variant", [search.variant], [*config.variant_names(), *given])
            if search.variant in given:
                _check_given_search(where, search, given[search.variant].dataset_files(search.dataset))
            else:
                _check_trained_search(where, search)

    def datasets(self, config: Config) -> dict[DatasetName, OwnData]:
        """The sentences and photographs for trained models, by the names of their folders below results/.

        Photographs have a separate folder, so that searches of the same photographs share their features.
        """
        found = {}
        for name, search in self.items():
            if search.variant in config.given_rows():
                continue
            if search.sentences:
                found[sentence_folder(name)] = _own_data(search, config, {})
            if search.photographs is not None:
                found[photograph_folder(search)] = _own_data(search, config, {"photographs": search.photographs})
        return found


def _check_trained_search(where: str, search: Search) -> None:
    """Raises `ValueError` for keys that only a search with a given row may have."""
    for key in ("vectors", *ID_KEYS):
        if getattr(search, key):
            raise ValueError(
                f"{where}.{key}: {search.variant} is trained and encodes sentences and photographs itself; only a "
                "given row uses this key"
            )


def _check_given_search(where: str, search: Search, given: GivenFiles) -> None:
    """Raises `ValueError` for queries that the files of a given row do not have."""
    if not (given.images or given.network):
        raise ValueError(
            f"{where}.variant: {search.variant} is given by scores of fixed pairs; a search needs its vectors, as "
            "images and sentences"
        )
    if search.photographs:
        raise ValueError(
            f"{where}.photographs: {search.variant} is given and cannot read photographs; name images of the test "
            "split as image_ids, or a trained variant"
        )
    if search.sentences and not search.vectors:
        raise ValueError(
            f"{where}.sentences: {search.variant} is given and cannot encode sentences; name a file with their "
            "vectors as vectors, sentences of the test split as caption_ids, or a trained variant"
        )
    if search.split != "test":
        raise ValueError(f"{where}.split: {search.variant} is given, with vectors of the test split only")
    if search.seed is not None and search.seed not in given.seeds:
        raise ValueError(f"{where}.seed: {search.variant} has files of the seeds {', '.join(map(str, given.seeds))}")


def sentence_folder(name: str) -> DatasetName:
    """The folder of a search's sentences."""
    return DatasetName(f"search/{name}")


def photograph_folder(search: Search) -> DatasetName:
    """The folder of a search's photographs, named after the user's; a digest distinguishes two of one name."""
    path = str(search.photographs)
    name = re.sub(r"[^\w-]+", "_", os.path.basename(path)).strip("_")
    digest = hashlib.sha256(path.encode()).hexdigest()[:6]
    return DatasetName(f"search/photographs/{search.dataset}/{name}-{digest}")


def _own_data(search: Search, config: Config, local: dict[str, str]) -> OwnData:
    base: dict[str, Any] = dict(config.datasets[search.dataset])
    base |= {"sources": {}, "known_unreadable": [], "boxes": None}
    return OwnData.model_construct(**base | {"local": local, "shards": 1, "trained_on": search.dataset})

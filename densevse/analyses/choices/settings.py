"""Settings of choices: `choices.<name>` becomes results/tables/<name>_choices.md."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from densevse.config.analyses import Entries
from densevse.config.config import Config
from densevse.config.datasets import BorrowingDataset
from densevse.config.sources import Path
from densevse.config.tables import Different
from densevse.config.values import DatasetName, Seed, VariantName
from densevse.report.plan import LastRoundsPlan
from snakeproof.strict import Strict, check_known_names

PUBLISHED = ("sugarcrepe", "aro", "winoground")
PICTURES = "pictures"
"""The source with the pictures of published questions."""


class Asked(Strict):
    """Questions about images, and the variants that answer them."""

    dataset: DatasetName = Field(description="the data set that variants are trained on; its test images are asked of")
    questions: Literal["grammar", "orders", "parquet", "sugarcrepe", "aro", "winoground"] = Field(
        description="where they are from: grammar of scenes, orders of a data set's test sentences as in ARO, your own "
        "Parquet file, or the files of a benchmark"
    )
    file: Path | None = Field(None, description="your Parquet file, or the benchmark's file or folder")
    pictures: Path | None = Field(None, description="the benchmark's pictures: a folder, zip or tar")
    measure: Different[VariantName] = Field(
        default=[], description="variants of config/methods; by default those of the data set's main table"
    )
    references: Different[VariantName] = Field(
        default=[], description="variants on which the table has the gain of the others; they are measured too"
    )
    seed: Seed = Field(0, description="of all draws: of wrong sentences, and of the images of blind choices")

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        for key, of in (("file", ("parquet", *PUBLISHED)), (PICTURES, PUBLISHED)):
            needed = self.questions in of
            if needed != (getattr(self, key) is not None):
                raise ValueError(f"{key}: questions: {self.questions} {'need it' if needed else 'have none'}")
        return self


class ChoicesPlan(LastRoundsPlan):
    """A table of choices."""

    references: list[VariantName] = Field(description="the variants on which it has the gain of the others")


class ChoiceSettings(Entries[Asked]):
    """The questions, by name."""

    FOLDERS: ClassVar = frozenset({"choices"})

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown data set or variant, or for a grammar that is not of the data set."""
        for name, entry in self.items():
            where = f"choices.{name}"
            check_known_names(f"{where}.dataset", [entry.dataset], config.datasets)
            check_known_names(f"{where}.measure", entry.measure, config.variant_names())
            check_known_names(f"{where}.references", entry.references, config.variant_names())
            if entry.questions == "grammar" and config.datasets[entry.dataset].reader != "scenes":
                raise ValueError(f"{where}.questions: {entry.dataset} has no grammar; only the reader scenes has one")

    def datasets(self, config: Config) -> dict[DatasetName, BorrowingDataset]:
        """The sentences of questions, by the names of their folders below results/."""
        return {choice_folder(name): _choice_data(name, entry, config) for name, entry in self.items()}


def choice_folder(name: str) -> DatasetName:
    """The folder of some questions."""
    return DatasetName(f"choices/{name}")


def _choice_data(name: str, entry: Asked, config: Config) -> BorrowingDataset:
    base: dict[str, Any] = dict(config.datasets[entry.dataset])
    own = {PICTURES: f"{config.results}/{choice_folder(name)}/{PICTURES}.zip"} if entry.pictures else {}
    base |= {"sources": {}, "local": own, "known_unreadable": [], "boxes": None, "resplit": None, "shards": 1}
    return BorrowingDataset.model_construct(**base | {"trained_on": entry.dataset})

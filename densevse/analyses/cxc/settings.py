"""Settings of the measures of CxC."""

from collections.abc import Iterator

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.sources import Path
from densevse.config.tables import Different
from densevse.config.values import VariantName
from snakeproof.strict import Strict, check_known_names

TASKS = {"sts": ("caption1", "caption2"), "sis": ("image1", "image2"), "sits": ("caption", "image")}
"""The columns of a pair in the file of each task; the first is the query."""


class Crisscrossed(Strict):
    """The judgements of a data set's images and sentences, and the variants that are compared with them."""

    folder: Path | None = Field(None, description=f"the folder with {', '.join(f'{task}_test.csv' for task in TASKS)}")
    measure: Different[VariantName] = Field(
        default=[], description="variants of config/methods with one vector of an image and one of a sentence"
    )

    def files(self) -> list[str]:
        """The file of each task; none without a folder."""
        return [f"{self.folder}/{task}_test.csv" for task in TASKS if self.folder]


class CxcSettings(ByDataset[Crisscrossed]):
    """Data set -> its judgements in CxC's format."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown variant."""
        super().check(config)
        for dataset, entry in self.items():
            check_known_names(f"cxc.{dataset}.measure", entry.measure, config.variant_names())

    def paths(self) -> Iterator[tuple[str, str]]:
        """The files of judgements."""
        for dataset, entry in self.items():
            yield from ((f"cxc.{dataset}.folder", path) for path in entry.files())

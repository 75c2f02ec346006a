"""Settings of the localisation of phrases in images."""

from typing import Annotated

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.values import DatasetName
from snakeproof.strict import Strict, check_known_names

_Share = Annotated[float, Field(gt=0, le=1)]


class LocalisationWindows(Strict):
    """The windows of test images that phrases are compared with, and the size of heat maps."""

    trained_on: DatasetName | None = Field(
        None, description="the data set whose models localise the phrases; by default this data set itself"
    )
    images: int = Field(1000, ge=1, description="the number of test images with true boxes, evenly spaced")
    sides: list[_Share] = Field(
        default=[0.25, 0.5, 0.75], min_length=1, description="of windows, as shares of an image's shorter side"
    )
    stride: _Share = Field(0.5, description="the largest step from a window to the next, as a share of its side")
    cells: int = Field(24, ge=1, description="of a heat map, along each side")


class LocalisationSettings(ByDataset[LocalisationWindows]):
    """Data set -> the windows in which phrases are looked for."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown data set."""
        super().check(config)
        for dataset, entry in self.items():
            check_known_names(
                f"localisation.{dataset}.trained_on", [entry.trained_on or ""], {**config.datasets, "": None}
            )

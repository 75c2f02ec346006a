"""Settings of the localisation of phrases in images."""

from typing import Annotated

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.names import known
from densevse.config.strict import Strict

_Share = Annotated[float, Field(gt=0, le=1)]


class LocalisationWindows(Strict):
    """The windows of test images that phrases are compared with, and the heat maps that come of it."""

    trained_on: str | None = Field(
        None, description="the data set whose models point at the phrases here; without one, this data set's own"
    )
    images: int = Field(1000, ge=1, description="so many test images with true boxes, evenly spaced")
    sides: list[_Share] = Field(
        default=[0.25, 0.5, 0.75], min_length=1, description="of windows, as shares of an image's shorter side"
    )
    stride: _Share = Field(0.5, description="from a window to the next, at most, as a share of its side")
    cells: int = Field(24, ge=1, description="of a heat map, along each side")


class LocalisationSettings(ByDataset[LocalisationWindows]):
    """Data set -> the windows in which phrases are looked for."""

    def check(self, config: Config) -> None:
        """Raise `ValueError` for a data set that does not exist."""
        super().check(config)
        for dataset, entry in self.items():
            known(f"localisation.{dataset}.trained_on", [entry.trained_on or ""], {**config.datasets, "": None})

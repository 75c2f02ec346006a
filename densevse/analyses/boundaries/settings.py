"""Settings of the check of contours against people's boundaries."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from densevse.config.analyses import AnalysisSettings
from densevse.config.sources import Path
from snakeproof.errors import InputError
from snakeproof.strict import Strict


class BoundarySettings(Strict, AnalysisSettings):
    """The photographs with the boundaries that people drew."""

    FOLDERS: ClassVar = frozenset({"boundaries"})

    folder: Path | None = Field(None, description="a folder in BSDS500's layout, with which contours are compared")

    @model_validator(mode="before")
    @classmethod
    def _refuse_path(cls, values: Any) -> Any:
        if isinstance(values, str):
            raise ValueError("folder: name the folder under this key, no longer as `boundaries` itself")
        return values

    def named_folder(self) -> str:
        """The folder. Raises `InputError` if none is named."""
        if not self.folder:
            raise InputError("boundaries.folder: name a folder in the layout of BSDS500, to compare contours with.")
        return self.folder

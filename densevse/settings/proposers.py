"""Where boxes that may hold an object come from."""

from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from densevse.settings.options import of_type
from densevse.settings.sources import Path
from densevse.strict import Strict

Most = Annotated[int, Field(ge=1, description="the most boxes of an image, the best first")]


class SelectiveSearch(Strict):
    """Selective search (densevse.vision.selective_search)."""

    mode: Literal["single", "fast", "quality"] = "fast"
    height: int | None = Field(None, ge=16, description="pixels to which an image is resized for the search")
    minimum_side: int = Field(10, ge=1, description="boxes with a shorter side are left out, pixels")
    boxes: Most = 2000


class BoxFile(Strict):
    """A Parquet or CSV file with the columns image_id, x, y, width, height, score."""

    path: Path
    boxes: Most = 2000


class Detections(BoxFile):
    """A file of the same columns and class_name, whose boxes are the regions themselves."""


class MCG(Strict):
    """MCG's published boxes: a folder with one .mat file for each image."""

    folder: Path
    name: str = Field("{stem}.mat", min_length=1, description="the .mat file of the image <stem>.<ending>")
    boxes: Most = 2000


PROPOSERS: dict[str, type[Strict]] = {
    "selective_search": SelectiveSearch,
    "file": BoxFile,
    "detections": Detections,
    "mcg": MCG,
}


class Proposer(Strict):
    """Where boxes that may hold an object come from."""

    kind: Literal["selective_search", "file", "detections", "mcg"]
    options: Annotated[SerializeAsAny[Strict], of_type("kind", PROPOSERS)] = Field(default={}, validate_default=True)

    def files(self) -> list[str]:
        """The files or folders of the user's that it reads."""
        return [getattr(self.options, name) for name in ("path", "folder") if hasattr(self.options, name)]

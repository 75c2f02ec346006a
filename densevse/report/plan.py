"""The plan of a picture of several artifacts of one kind: the contract between the DAG and the picture's job."""

from pydantic import Field

from densevse.artifacts.identity import Identity
from densevse.config.strict import Strict


class ShownArtifact(Strict):
    """An artifact, by its identity, and the title that it has in the picture."""

    title: str
    of: Identity


class PicturePlan(Strict):
    """A picture of artifacts of one kind."""

    title: str
    shown: list[ShownArtifact] = Field(min_length=1, description="in the order in which they stand in the picture")

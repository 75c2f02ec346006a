"""The plan of a picture of several artifacts of one kind, passed from the DAG to the picture's job."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from densevse.artifacts.identity import Identity
from densevse.config.strict import Strict


def _identity(values: Any) -> Any:
    """An identity from plain values, as a job receives it."""
    return Identity(**values) if isinstance(values, Mapping) else values


class ShownArtifact(Strict):
    """An artifact, by its identity, and its title in the picture."""

    title: str
    of: Annotated[Identity, BeforeValidator(_identity)]


class PicturePlan(Strict):
    """A picture of artifacts of one kind."""

    title: str
    shown: list[ShownArtifact] = Field(min_length=1, description="in the order in which they stand in the picture")

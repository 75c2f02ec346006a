"""The views of images that a method may read, one module each.

To add a view, write a module here and its implementation. densevse/vision/views/<name>.py makes the crops that a
network reads, if features are extracted for the view. densevse/data/views/<opened_by>.py opens it for a method.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator

from densevse.config.declared.door import Door


@dataclass(frozen=True)
class DeclaredView:
    """A view of images: the facts that the plan needs."""

    opened_by: str = "vectors"
    """The module of densevse/data/views that opens the view for a method."""
    made_by: Literal["network", "concept_network", "generator"] = "network"
    extracted: bool = False
    """True if a network computes its features from the crops of densevse/vision/views/<name>.py."""
    one_vector: bool = False
    """True if it is one vector for an image, so that a window of the image can be read in the same way."""
    of_proposals: bool = False
    """True if it has a vector for each region chosen from the boxes of the data set's proposer."""
    features_of: str | None = None
    """Another view, from whose features it is opened."""
    pixels: bool = False
    """True if it is opened from the image files, for a network that is trained with the method."""


VIEWS: Door[DeclaredView] = Door("views", "view")
ViewName = Annotated[str, AfterValidator(VIEWS.check), VIEWS.enum]


def described_by(view: str) -> str:
    """The view whose features and network a view uses: its own, unless it is opened from another's."""
    return VIEWS[view].features_of or view

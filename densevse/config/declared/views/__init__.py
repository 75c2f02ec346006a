"""The views of images that a method may read, a module for each.

A new view is a module here, and its implementation: densevse/vision/views/<name>.py says what of an image a network is
shown, where features are extracted for it; densevse/data/views/<opened_by>.py gives a method what it reads.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator

from densevse.config.declared.door import Door


@dataclass(frozen=True)
class DeclaredView:
    """A view of images, as far as the plan must know it."""

    opened_by: str = "vectors"
    """The module of densevse/data/views that gives a method the view."""
    made_by: Literal["network", "concept_network", "generator"] = "network"
    extracted: bool = False
    """Its features are what a network makes of crops of an image, as densevse/vision/views/<name>.py cuts them."""
    one_vector: bool = False
    """It is one vector of an image, so that a window of the image can be seen in the same way."""
    of_proposals: bool = False
    """It has a vector for each region that was chosen of the boxes of the data set's proposer."""
    features_of: str | None = None
    """Another view, from whose features it is opened."""
    pixels: bool = False
    """It is opened from the image files, for a network that is trained with the method."""


VIEWS: Door[DeclaredView] = Door("views", "view")
ViewName = Annotated[str, AfterValidator(VIEWS.check), VIEWS.enum]


def described_by(view: str) -> str:
    """The view whose features, and whose network, a view is seen with: its own, unless it is made from another's."""
    return VIEWS[view].features_of or view

"""Networks that predict the concepts of an image (SCO's multi-regional multi-label CNN, section 3.2)."""

from typing import Literal

from pydantic import Field

from densevse.config.strict import Strict
from densevse.config.training import Phase, TrainingConfig


class ConceptNetwork(Strict):
    """A classifier with one output for each concept: its regions and its training."""

    network: str | None = Field(
        None,
        description="the network that is changed to predict concepts; by default the data set's own for the view whole",
    )
    proposer: str = Field(
        description="the proposer of the scored regions: all boxes of one of kind clustered, else those that methods "
        "read as regions"
    )
    train: Literal["head", "all"] = Field(
        description="head: the last layer alone, on stored features of regions; all: every layer, from pixels"
    )
    learns_from: Literal["whole", "regions"] = Field(
        "whole", description="the whole image, as the paper; or the maximum over its regions (ours, train: head only)"
    )
    seed: int = Field(0, ge=0, description="of its training")
    training: TrainingConfig
    phases: dict[str, Phase] = Field(min_length=1, description="the phases by name, one after the other")

"""The parameters of a loss of a batch's scores, `RankingLoss` of densevse/methods/parts.py, which methods share."""

from typing import Annotated, Literal

from pydantic import Field

Negatives = Literal["sum", "hardest", "softmax", "sigmoid"]
NEGATIVES = (
    "what the loss takes of a batch's contrastive pairs: the sum of their hinges, or the hardest hinge of each pair; "
    "or, without a margin, the softmax over all of them (InfoNCE), or a sigmoid of each (SigLIP's loss)"
)
Temperature = Annotated[
    float,
    Field(gt=0, description="of softmax and sigmoid: the first one, as it is learned; CLIP has .07, and SigLIP .1"),
]

"""The precision with which a network computes on a data set."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import TEXT

PRECISION = Schema(
    "precision",
    "a network on a data set",
    (
        Column("precision", TEXT, "bf16 or fp32: what its convolutions and products are computed in"),
        Column("device", TEXT, "cpu or cuda: the device that it was chosen on, as the faster of the two"),
    ),
)

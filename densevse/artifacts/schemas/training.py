"""The course of a training."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL

HISTORY = Schema(
    "history",
    "an epoch of a training",
    (
        Column("epoch", NUMBER, "the epoch, from 1"),
        Column("step", NUMBER, "optimiser steps taken by its end"),
        Column("learning_rate", REAL, "learning rate at its end"),
        Column("loss", REAL, "mean training loss over its batches"),
        Column("annotation_r1", REAL, "R@1 of image annotation on val, percent"),
        Column("annotation_r5", REAL, "R@5 of image annotation on val, percent"),
        Column("annotation_r10", REAL, "R@10 of image annotation on val, percent"),
        Column("search_r1", REAL, "R@1 of image search on val, percent"),
        Column("search_r5", REAL, "R@5 of image search on val, percent"),
        Column("search_r10", REAL, "R@10 of image search on val, percent"),
        Column("sum", REAL, "sum of the six recalls"),
        Column("best", pa.bool_(), "whether it is the epoch whose weights were kept"),
        Column("resumed", NUMBER, "how often training was interrupted and resumed by its end"),
        Column("seconds", REAL, "wall-clock time of the epoch, seconds"),
    ),
)

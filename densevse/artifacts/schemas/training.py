"""The course of a training."""

import pyarrow as pa

from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema

# A history has these columns and one more for each measure of its task's validation: see densevse.training.loop.
HISTORY = Schema(
    "history",
    "an epoch of a training",
    (
        Column("epoch", NUMBER, "the epoch, from 1; 0 is the model that training started from, before it"),
        Column("phase", TEXT, "the phase's name in the configuration; empty at epoch 0"),
        Column("step", NUMBER, "optimiser steps taken by its end"),
        Column("learning_rate", REAL, "learning rate at its end"),
        Column("loss", REAL, "mean training loss over its batches; none at epoch 0", nullable=True),
        Column("best", pa.bool_(), "whether it is the epoch whose weights were kept"),
        Column("resumed", NUMBER, "how often training was interrupted and resumed by its end"),
        Column("seconds", REAL, "wall-clock time of the epoch, seconds"),
    ),
    version=2,
)

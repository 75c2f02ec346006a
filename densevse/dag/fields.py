"""The fields of configuration entries that jobs are given.

A field that is in no list here reaches no job, so that a new one with a default reruns nothing until a job reads it. A
method's parameters and a reader's options are their own, and are passed whole.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

TRAINING = (
    "batch_size",
    "checkpoint_steps",
    "ema_decay",
    "grad_clip",
    "momentum",
    "optimizer",
    "patience",
    "precision",
    "training_images",
    "validation_images",
    "weight_decay",
)
PHASE = ("epochs", "final_learning_rate", "frozen", "learning_rate", "name", "parameters")


def passed(entry: BaseModel, names: Iterable[str]) -> dict[str, Any]:
    """The named fields of an entry as plain values; of those, the ones that the entry's type has."""
    return entry.model_dump(mode="json", include={*names})


def whole(entry: BaseModel) -> dict[str, Any]:
    """All fields of an entry as plain values."""
    return entry.model_dump(mode="json")

"""The fields of configuration entries that jobs are given.

A field that is in no list here reaches no job, so that a new one with a default reruns nothing until a job reads it. A
method's parameters and a reader's options are their own, and are passed whole.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

DOWNLOADED = ("url", "manual", "size", "sha256", "md5", "sha1")
ON_HUB = ("hub", "revision", "file", "size", "sha256")
PACKAGED_SOURCE = ("packaged", "sha256")
RESPLIT = ("seed", "train", "val", "test", "chosen_on")
READING = ("reader", "known_unreadable", "only_available")
NETWORK_FIELDS = ("architecture", "batch_size", "dtype", "precision")
PREPROCESSING = ("mean", "resize", "size", "std")
"""A library's network brings its own preprocessing, and only it has options."""
PIXELS = ("mean", "size", "std")
REGION_OPTIONS_FIELDS = (
    "area_exponent",
    "background",
    "cells",
    "context",
    "crop_size",
    "detections",
    "features",
    "map",
    "map_size",
    "maximum_proposals",
    "nms_threshold",
    "score",
    "scoring",
)
OPTIMISATION = (
    "batch_size",
    "checkpoint_steps",
    "cpu_precision",
    "ema_decay",
    "grad_clip",
    "momentum",
    "optimizer",
    "patience",
    "precision",
    "weight_decay",
)
TRAINING = (*OPTIMISATION, "siblings", "training_images", "validation_images")
PHASE = ("epochs", "final_learning_rate", "frozen", "learning_rate", "name", "parameters")
LAYOUT = ("copies", "lower_is_better", "similarity", "unscored")
DECODING = (
    "beam",
    "choice_of_tags",
    "kept",
    "language_weight",
    "longest_sentence",
    "ngram",
    "ranking",
    "tag_sequences",
)

WORD_VECTORS_FILE = ("dimension", "format", "member")
CONTOURS_OF_MCG = ("detector", "half_precision", "pixels", "scales")
MAPS_OF_MCG = ("pixels", "scales")
FOREST_OF_MCG = ("leaf", "trees")
SAMPLE_OF_MCG = ("candidates", "superpixels")
PROPOSALS_OF_MCG = ("boxes", "candidates", "superpixels")
WHERE_SET = {"cpu_precision": "float32", "dtype": "float16"}
"""Fields that came later, with the value that is given to no job: what was made before them stays valid."""


def dump_fields(entry: BaseModel, names: Iterable[str]) -> dict[str, Any]:
    """The named fields of an entry as plain values; of those, the ones that the entry's type has."""
    found = _order_fields(entry.model_dump(mode="json", include={*names}))
    return {name: value for name, value in found.items() if name not in WHERE_SET or WHERE_SET[name] != value}


def dump_entry(entry: BaseModel) -> dict[str, Any]:
    """All fields of an entry as plain values, without those that its type names as ADDED and that have their default.

    They came later, and what was made before them has the same values.
    """
    added: frozenset[str] = getattr(type(entry), "ADDED", frozenset())
    left = {name for name in added if getattr(entry, name) == type(entry).model_fields[name].default}
    return _order_fields(entry.model_dump(mode="json", exclude=left))


def recipe(entry: Any, threads: int) -> dict[str, Any]:
    """The training, phases and seed of an entry's network that is trained, as Recipe takes them."""
    return {
        "training": dump_fields(entry.training, OPTIMISATION),
        "phases": [{"name": name, **dump_fields(phase, PHASE)} for name, phase in entry.phases.items()],
        "seed": entry.seed,
        "threads": threads,
    }


def _order_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields in the order of their type, and mappings in them by key: the order in a YAML file decides nothing.

    It would decide which images a reader draws into which split.
    """
    return {name: _sort_keys(value) for name, value in fields.items()}


def _sort_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    return [_sort_keys(one) for one in value] if isinstance(value, list) else value

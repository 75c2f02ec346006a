"""Draws of settings: the same space for every method, and epochs by the budget of pairs that all draws share."""

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from densevse.analyses.effort.settings import LEARNING_RATE, NEGATIVES, Effort, Space, TunedRow
from densevse.config.methods import MethodConfig
from densevse.config.training import NamedPhase, TrainingConfig
from densevse.config.values import VariantName

MISMATCHED = "mismatched"
"""The parameter of a method that scores some mismatched pairs of a batch; others score all."""


def budget(entry: MethodConfig) -> int:
    """The epochs of round 0 times the negatives of a matched pair in each direction."""
    return negatives(entry) * sum(phase.epochs for phase in entry.round_phases(0))


def negatives(entry: MethodConfig) -> int:
    """The negatives of a matched pair, in each direction."""
    in_batch = _training(entry).batch_size - 1
    return min(in_batch, getattr(entry.parameters, MISMATCHED, in_batch))


def apply_draw(entry: MethodConfig, effort: Effort, variant: VariantName, draw: int, pairs: int) -> MethodConfig:
    """A variant's settings in a draw; draw 0 changes only what all rows share.

    `entry` has the configured settings, and `pairs` is the budget. Raises `ValueError` if the method refuses values.
    """
    row = effort.rows[variant]
    values = {**_shared_parameters(row), **(_sample_draw(entry, effort, row, variant, draw) if draw else {})}
    found = entry.model_dump(exclude_unset=True)
    found["parameters"] = {**entry.parameters.model_dump(), **_group_values(values, "parameters")}
    found["training"] = {**_training(entry).model_dump(), **_group_values(values, "training")}
    found["training"] |= {"validation_images": effort.validation_images, "patience": effort.patience}
    if NEGATIVES in values:
        _set_negatives(found, values[NEGATIVES])
    factor = values.get(LEARNING_RATE, 1.0)
    changed = MethodConfig.model_validate(found)
    epochs = max(1, round(pairs / negatives(changed)))
    phases = _scale_phases(changed.round_phases(0), epochs, factor)
    return MethodConfig.model_validate(
        {**found, "phases": {phase.name: phase.model_dump(exclude={"name"}) for phase in phases}, "rounds": None}
    )


def _shared_parameters(row: TunedRow) -> dict[str, Any]:
    return {f"parameters.{name}": value for name, value in row.parameters.items()}


def _group_values(values: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The values whose key begins with a group's name."""
    return {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{group}.")}


def _sample_draw(entry: MethodConfig, effort: Effort, row: TunedRow, variant: str, draw: int) -> dict[str, Any]:
    """The values of a draw, by key. Each key has a sequence of its own, so that a further key changes no other's."""
    found = {}
    for key, space in {**effort.space, **row.space}.items():
        default = _default(entry, row, key)
        if default is not None or (space.values is not None and _has_parameter(entry, key)):
            random = np.random.default_rng([effort.drawn_by, crc32(f"{variant} {key}".encode()), draw])
            found[key] = _sample(space, default, random)
    return found


def _has_parameter(entry: MethodConfig, key: str) -> bool:
    group, _, name = key.partition(".")
    return group != "parameters" or hasattr(entry.parameters, name)


def _default(entry: MethodConfig, row: TunedRow, key: str) -> Any:
    """The configured value of a key; None if the method has no such parameter, or none is set."""
    if key in (LEARNING_RATE, NEGATIVES):
        return 1.0 if key == LEARNING_RATE else negatives(entry)
    group, _, name = key.partition(".")
    return row.parameters.get(name, getattr(getattr(entry, group), name, None))


def _sample(space: Space, default: Any, random: np.random.Generator) -> Any:
    if space.values is not None:
        return space.values[int(random.integers(len(space.values)))]
    assert space.times is not None
    low, high = np.log(space.times)
    value = default * float(np.exp(random.uniform(low, high)))
    return round(value) if isinstance(default, int) else float(f"{value:.3g}")


def _set_negatives(found: dict[str, Any], number: int) -> None:
    """Sets a batch, and where the method chooses among a batch's pairs the number of these.

    Raises `ValueError` for none.
    """
    if number < 1:
        raise ValueError(f"{NEGATIVES}: {number} is drawn, and a matched pair needs 1 or more; draw larger ones")
    if MISMATCHED in found["parameters"]:
        found["parameters"][MISMATCHED] = number
        found["training"]["batch_size"] = max(found["training"]["batch_size"], number + 1)
    else:
        found["training"]["batch_size"] = number + 1


def _scale_phases(phases: Sequence[NamedPhase], epochs: int, factor: float) -> list[NamedPhase]:
    """The phases with so many epochs in all, each with its share and one or more, and rates times a factor."""
    total = sum(phase.epochs for phase in phases)
    ends = np.round(np.cumsum([phase.epochs for phase in phases]) * epochs / total).astype(int)
    counts = np.maximum(1, np.diff(ends, prepend=0))
    counts[0] = max(1, counts[0] - (counts.sum() - epochs))
    rates = ("learning_rate", "final_learning_rate")
    return [
        phase.model_copy(
            update={"epochs": int(count)}
            | {rate: float(f"{value * factor:.3g}") for rate in rates if (value := getattr(phase, rate)) is not None}
        )
        for phase, count in zip(phases, counts, strict=True)
    ]


def _training(entry: MethodConfig) -> TrainingConfig:
    """Raises `ValueError` for a method without training."""
    if entry.training == "none":
        raise ValueError(f"{entry.title} is not trained, so nothing of it can be tuned")
    return entry.training

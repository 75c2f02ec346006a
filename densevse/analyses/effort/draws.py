"""Draws of settings: one space, batch and number of optimiser steps for every method."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from densevse.analyses.effort.settings import LEARNING_RATE, Effort, Space, TunedRow
from densevse.config.methods import MethodConfig
from densevse.config.training import NamedPhase, TrainingConfig
from densevse.config.values import VariantName


class Budget(NamedTuple):
    """The settings that all draws share. A row with another batch has other epochs, so its steps are as many."""

    batch_size: int
    epochs: int

    @classmethod
    def from_entry(cls, entry: MethodConfig) -> "Budget":
        """The batch of a method, and the epochs of its round 0. Raises `ValueError` if it is not trained."""
        return cls(_training(entry).batch_size, sum(phase.epochs for phase in entry.round_phases(0)))

    def scale_to(self, batch_size: int | None) -> "Budget":
        """As many steps with another batch, to a whole number of epochs."""
        size = batch_size or self.batch_size
        return Budget(size, max(1, round(self.epochs * size / self.batch_size)))


def apply_draw(entry: MethodConfig, effort: Effort, variant: VariantName, draw: int, budget: Budget) -> MethodConfig:
    """A variant's settings in a draw; draw 0 changes only what all rows share.

    `entry` has the configured settings. Raises `ValueError` if the method refuses values.
    """
    row = effort.rows[variant]
    values = {**_shared_parameters(row), **(_sample_draw(entry, effort, row, variant, draw) if draw else {})}
    shared = {"validation_images": effort.validation_images, "patience": effort.patience}
    own = budget.scale_to(row.batch_size)
    changed = {
        "parameters": _group_values(values, "parameters"),
        "training": {**_group_values(values, "training"), **shared, "batch_size": own.batch_size},
    }
    phases = _scale_phases(entry.round_phases(0), own.epochs, values.get(LEARNING_RATE, 1.0))
    return _change_entry(entry, changed, phases)


def apply_settings(entry: MethodConfig, drawn: MethodConfig, keys: Sequence[str]) -> MethodConfig:
    """A control: a method with the training, the learning rate and the parameters of the space of another one's draw.

    `keys` are those of the space. Raises `ValueError` if the method refuses values.
    """
    names = [key.partition(".")[2] for key in keys if key.startswith("parameters.")]
    changed = {
        "parameters": {name: getattr(drawn.parameters, name) for name in names if hasattr(entry.parameters, name)},
        "training": _training(drawn).model_dump(),
    }
    own, other = entry.round_phases(0), drawn.round_phases(0)
    epochs, factor = sum(phase.epochs for phase in other), _highest_rate(other[0]) / _highest_rate(own[0])
    return _change_entry(entry, changed, _scale_phases(own, epochs, factor))


def _highest_rate(phase: NamedPhase) -> float:
    """The larger of a phase's first and last learning rate, which is above 0."""
    return max(phase.learning_rate, phase.final_learning_rate or 0.0)


def _change_entry(
    entry: MethodConfig, changed: Mapping[str, Mapping[str, Any]], phases: Sequence[NamedPhase]
) -> MethodConfig:
    """A method with other values of its parameters and its training, and with these phases alone."""
    groups = {"parameters": entry.parameters, "training": _training(entry)}
    found = {name: {**group.model_dump(), **changed[name]} for name, group in groups.items()}
    of_phases = {phase.name: phase.model_dump(exclude={"name"}) for phase in phases}
    return MethodConfig.model_validate(
        {**entry.model_dump(exclude_unset=True), **found, "phases": of_phases, "rounds": None}
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
    if key == LEARNING_RATE:
        return 1.0
    group, _, name = key.partition(".")
    return row.parameters.get(name, getattr(getattr(entry, group), name, None))


def _sample(space: Space, default: Any, random: np.random.Generator) -> Any:
    if space.values is not None:
        return space.values[int(random.integers(len(space.values)))]
    assert space.times is not None
    low, high = np.log(space.times)
    value = default * float(np.exp(random.uniform(low, high)))
    return round(value) if isinstance(default, int) else float(f"{value:.3g}")


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

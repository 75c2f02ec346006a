"""The work of trainings with drawn settings, which `densevse plan` prints."""

from collections.abc import Mapping
from typing import Any

from densevse.analyses.effort import dag
from densevse.command.costs.jobs import Amounts, Arithmetic, Count, add_amounts, multiply_amounts


def _draw_amounts(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The work of training a draw; None if unknown."""
    dataset, variant, number = names["dataset"], names["variant"], int(names["draw"].removeprefix("draw"))
    entry = dag.drawn_settings(arithmetic.project, dataset, variant, number)
    return arithmetic.round_work(entry, dataset, variant)


def _chosen_amounts(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The work of training the chosen draw: the mean of all draws, as none is chosen before they are trained."""
    draws = dag.draws(arithmetic.project, names["dataset"], names["variant"])
    found = [_draw_amounts(arithmetic, {**names, "draw": one["draw"]}) for one in draws]
    known = [one for one in found if one is not None]
    return multiply_amounts(add_amounts(*known), 1 / len(known)) if known else None


COUNTED: Mapping[str, Count] = {
    "train_draw": _draw_amounts,
    "train_chosen": _chosen_amounts,
    "retrieve_draw": Arithmetic.retrieval,
}

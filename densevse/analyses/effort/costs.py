"""The work of trainings with drawn settings, which `densevse plan` prints."""

from collections.abc import Mapping
from typing import Any

from densevse.analyses.effort import dag
from densevse.command.costs.jobs import Amounts, Arithmetic, Count, add_amounts, multiply_amounts
from densevse.config.values import VariantName


def _draw_amounts(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The work of training a draw; None if unknown."""
    dataset, variant, number = names["dataset"], names["variant"], int(names["draw"].removeprefix("draw"))
    entry = dag.drawn_settings(arithmetic.project, dataset, variant, number)
    return arithmetic.round_work(entry, dataset, variant)


def _shortlist_amounts(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The work of training all draws: the most that a shortlist may be, which is known only after their training."""
    return _draws_amounts(arithmetic, names, names["variant"], 1)


def _chosen_amounts(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The work of training the chosen draw: the mean of all draws, as none is chosen before they are trained."""
    row = VariantName(names["draw"].removeprefix(dag.CHOSEN))
    return _draws_amounts(arithmetic, names, row, 1 / len(dag.draw_numbers(arithmetic.project, names["dataset"], row)))


def _draws_amounts(arithmetic: Arithmetic, names: Mapping[str, Any], row: VariantName, factor: float) -> Amounts | None:
    """The work of training a variant with each draw of a row, times a factor; None if unknown."""
    project, dataset, variant = arithmetic.project, names["dataset"], names["variant"]
    entries = [dag.row_settings(project, dataset, variant, row, n) for n in dag.draw_numbers(project, dataset, row)]
    known = [one for entry in entries if (one := arithmetic.round_work(entry, dataset, variant)) is not None]
    return multiply_amounts(add_amounts(*known), factor) if known else None


COUNTED: Mapping[str, Count] = {
    "train_draw": _draw_amounts,
    "train_shortlist": _shortlist_amounts,
    "train_chosen": _chosen_amounts,
    "retrieve_draw": Arithmetic.retrieval,
}

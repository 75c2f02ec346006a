"""The work of trainings with drawn settings, which `densevse plan` prints."""

from collections.abc import Mapping
from typing import Any

from densevse.analyses.effort.dag import EffortStage
from densevse.command.costs.jobs import Amounts, Arithmetic, Count, added, times


def _draw(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The training of a draw."""
    dataset, variant, number = names["dataset"], names["variant"], int(names["draw"].removeprefix("draw"))
    entry = EffortStage(arithmetic.project).drawn(dataset, variant, number)
    return arithmetic.training_of(entry, dataset, variant)


def _chosen(arithmetic: Arithmetic, names: Mapping[str, Any]) -> Amounts | None:
    """The mean of all draws, as the chosen one is known only after they are trained."""
    draws = EffortStage(arithmetic.project).draws(names["dataset"], names["variant"])
    found = [_draw(arithmetic, {**names, "draw": one["draw"]}) for one in draws]
    known = [one for one in found if one is not None]
    return times(added(*known), 1 / len(known)) if known else None


COUNTED: Mapping[str, Count] = {
    "train_draw": _draw,
    "train_chosen": _chosen,
    "retrieve_draw": Arithmetic.retrieval,
}

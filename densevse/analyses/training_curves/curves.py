"""Draws the course of every training of a data set: the loss, and rsum on the validation set."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.training import HISTORY
from densevse.report.figures import QUIET, number_logarithmic, save_figure
from snakeproof import schema

_LEGEND = (
    "Dot: an epoch whose weights were kept. Dash: a round of one epoch. Dashed line: the end of a round. The losses of "
    "methods have definitions of their own and cannot be compared. rsum is the sum of the six recalls; among fewer "
    "images it is higher."
)


def draw_training_curves(
    title: str, dataset: str, variants: Mapping[str, Mapping[str, Any]], output: str, histories: Sequence[str] = ()
) -> None:
    """The job that draws, for each variant and seed, its rounds one after the other, from HISTORY artifacts.

    `variants` has, for each variant of the data set, its `seeds`, under `val` the number of val images that it ranks,
    None for all, and under `rounds` the variant that each round is of: another one where variants share round 0. Each
    number of val images has a panel, as rsum is higher among fewer images. `histories` are in any order. Raises
    `InputError` if the history of a round is missing.
    """
    index = ArtifactIndex(histories, HISTORY)
    ranked = list(dict.fromkeys(curve["val"] for curve in variants.values()))
    figure = Figure(figsize=(6 * (1 + len(ranked)), 5), layout="constrained")
    figure.suptitle(title, parse_math=False)
    loss, *totals = figure.subplots(1, 1 + len(ranked), squeeze=False)[0]
    for number, (variant, curve) in enumerate(variants.items()):
        total = totals[ranked.index(curve["val"])]
        for seed in curve["seeds"]:
            rounds = [Identity(dataset, trained, seed, round) for round, trained in enumerate(curve["rounds"])]
            run = join_histories([index.path(one) for one in rounds])
            for axes, column in ((loss, "loss"), (total, "rsum")):
                _draw_run(axes, run, column, f"C{number % 10}", variant if seed == curve["seeds"][0] else None)
    labels = ["training loss", *(f"rsum on {'all' if val is None else val} images of val" for val in ranked)]
    for axes, label in zip((loss, *totals), labels, strict=True):
        axes.set(xlabel="epoch", ylabel=label)
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if variants:
        loss.set_yscale("log")
        number_logarithmic(loss.yaxis)
        figure.legend(*loss.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save_figure(figure, output, _LEGEND)


def join_histories(rounds: Sequence[str]) -> pd.DataFrame:
    """The histories of a run's rounds, one after the other, with a running epoch.

    A round's epoch 0, the model that it started from, has the number of the last epoch before it and no loss.
    """
    parts = [schema.read(path, HISTORY).assign(round=number) for number, path in enumerate(rounds)]
    joined = pd.concat(parts, ignore_index=True)
    return joined.assign(epoch=(joined["epoch"] > 0).cumsum())


def _draw_run(axes: Axes, run: pd.DataFrame, column: str, color: str, label: str | None) -> None:
    axes.plot(run["epoch"], run[column], color=color, linewidth=1.2, label=label)
    drawn = run[column].notna()
    alone = run[drawn & ~drawn.shift(1, fill_value=False) & ~drawn.shift(-1, fill_value=False)]
    axes.plot(alone["epoch"], alone[column], "_", color=color, markersize=8)
    kept = run[run["best"]]
    axes.plot(kept["epoch"], kept[column], ".", color=color)
    ends = run.groupby("round")["epoch"].max().iloc[:-1] + 0.5
    for epoch in ends:
        axes.axvline(float(epoch), color=QUIET, linewidth=0.5, linestyle="--")

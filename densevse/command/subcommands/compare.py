"""`densevse compare`: the gain of one result over another, paired by query."""

import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from densevse.command.shared import align_columns

if TYPE_CHECKING:
    from densevse.command.comparison import Gain, Retrievals

HELP = "print the gains of results over others, paired by query, with 95% intervals"
_HEAD = ("metric", "first", "second", "second - first", "95% interval", "excludes 0")
_LOWER = "Lower is better for ranks (median, mean), higher for all other metrics."


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the two sides."""
    what = "a folder of results, a variant's folder in results/<data set>/retrieval/<protocol>, or a file of one seed"
    parser.add_argument("first", help=what)
    parser.add_argument("second", help="the same; it is compared with the first")


def run(arguments: Namespace) -> int:
    """Prints a table for each measurement that both sides have."""
    from densevse.command.comparison import compare, find_retrievals, pairs

    first, second = find_retrievals(arguments.first), find_retrievals(arguments.second)
    compared = pairs(first, second)
    parts = [_table(*pair, compare(*pair)) for pair in compared]
    if len(compared) > 1 or len(first) > 1 or len(second) > 1:
        alone = sorted(map(str, first.keys() ^ second.keys()))
        parts += [textwrap.fill(f"In one of the two alone: {'; '.join(alone)}.", 120)] if alone else []
    print("\n\n".join([*parts, _LOWER]))
    return 0


def _table(first: "Retrievals", second: "Retrievals", gains: Sequence["Gain"]) -> str:
    rows = [
        (gain.metric, f"{gain.first:.1f}", f"{gain.second:.1f}", f"{gain.difference:+.1f}", *_interval(gain))
        for gain in gains
    ]
    heading = f"first: {first.of}, {_seeds(first)}\nsecond: {second.of}, {_seeds(second)}"
    return f"{heading}\n\n{align_columns([_HEAD, *rows], cut=0, right=(1, 2, 3, 4), indent=2)}"


def _interval(gain: "Gain") -> tuple[str, str]:
    low, high = gain.interval
    if low != low:  # too few images or families to draw from
        return "unknown", "unknown"
    return f"{low:+.1f} to {high:+.1f}", "yes" if gain.interval.excludes_zero else "no"


def _seeds(side: "Retrievals") -> str:
    number = max(side.rounds.values())
    seeds = f"seed{'s' * (len(side.files) > 1)} {', '.join(map(str, sorted(side.files)))}"
    return f"{seeds}, round {number}" if number else seeds

"""The gain that a paper prints for a claim: the recalls of the better row of a table, minus those of the worse row."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from densevse.analyses.claims.settings import Claim
from densevse.config.tables import Protocol
from densevse.config.values import DatasetName
from densevse.evaluation.metrics import RECALL_COLUMNS
from densevse.report.published import PublishedRow

PLACE = re.compile(r"(?:(?P<paper>.+), )?Tables? (?P<first>\d)(?: (?P<joint>and|to) (?P<last>\d))?")
"""Table 1; Tables 1 and 2; Tables 1 to 3; each may follow the name of another paper than the claim's own."""


class Comparison(NamedTuple):
    """Two rows of a printed table, and the recalls that are printed of both."""

    better: PublishedRow
    worse: PublishedRow

    @property
    def recalls(self) -> list[str]:
        """The recalls that both rows have."""
        return [key for key in RECALL_COLUMNS if key in self.better.metrics and key in self.worse.metrics]

    @property
    def gain(self) -> float:
        """The sum over these recalls of the better row, minus that of the worse row."""
        return sum(self.better.metrics[key] - self.worse.metrics[key] for key in self.recalls)


def parse_place(place: str, paper: str) -> tuple[str, list[str]]:
    """The name of the paper in whose tables a claim stands, by default `paper`, and their numbers; none without one."""
    found = PLACE.fullmatch(place)
    if not found:
        return paper, []
    first, last = int(found["first"]), int(found["last"] or found["first"])
    return found["paper"] or paper, [str(number) for number in range(first, last + 1)]


def printed_comparison(
    rows: Sequence[PublishedRow], claim: Claim, dataset: DatasetName, protocol: Protocol
) -> Comparison | None:
    """The comparison of a claim's two rows in these `rows` of its tables; None where they are not printed together.

    If several tables or data sets have it, it is that of `dataset`, with `protocol` where there is one, or the first.
    """
    found = [one for one in _comparisons(rows, claim) if one.recalls]
    found.sort(key=lambda one: (one.better.dataset != dataset, one.better.protocol != protocol))
    return found[0] if found else None


def _comparisons(rows: Iterable[PublishedRow], claim: Claim) -> Iterator[Comparison]:
    alike: dict[tuple[str, str, str], dict[str, PublishedRow]] = {}
    for row in rows:
        alike.setdefault((row.table, row.dataset, row.protocol), {}).setdefault(row.variant, row)
    for (_, _, protocol), by_variant in alike.items():
        better, worse = (by_variant.get(row.variant) for row in (claim.better, claim.worse))
        if better and worse and protocol != "hodosh":  # which ranks one sentence of each image
            yield Comparison(better, worse)

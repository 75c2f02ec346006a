"""Makes docs/tables/flickr30k_costs.md: what a table of Flickr30k costs before and after, by stage.

*Planned* are the amounts of work that commit 5febe9e3 planned (docs/tables/flickr30k_before.csv), and *before* these
with the corrections of docs/tables/flickr30k_corrections.csv, each with its reason. *After* is today's plan with
examples/flickr30k_cheaper.yaml. All are for the same core: that of the estimates, or this machine's, as
`densevse plan --measure` found it.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence

from densevse.command.costs.jobs import Arithmetic
from densevse.command.costs.rates import ESTIMATES, Rates, known_rates, processor
from densevse.command.shared import ROOT, configured_project, planned_jobs

TABLES = ROOT / "docs/tables"
TARGET, CHEAPER = "results/tables/flickr30k.md", "examples/flickr30k_cheaper.yaml"
NAMES = ("network", "concept_network", "view", "proposer", "variant", "parser")
Key = tuple[str, str, str]  # stage, what it is of, kind of work
Amounts = Mapping[Key, float]

LEVERS = {
    ("extract_regions", "multi_label_cnn clustered_fast"): "50 crops of an image become one map",
    ("extract_regions", "vgg19_map clustered_fast"): "50 crops of an image become one map",
    ("train_concept_network", "multi_label_cnn"): "the last layer alone is trained, on what is read from the map",
    ("choose_precision", "vgg19_map"): "the network of the map",
    ("choose_precision", "multi_label_cnn"): "the network of the crops",
}
"""(stage, of) -> why today's plan with the levers differs from the one before."""


def read_amounts(name: str, column: str = "amount") -> dict[Key, str]:
    """A column of docs/tables/flickr30k_<name>.csv."""
    with open(TABLES / f"flickr30k_{name}.csv", encoding="utf-8", newline="") as lines:
        return {(row["stage"], row["of"], row["kind"]): row[column] for row in csv.DictReader(lines)}


def planned_amounts(configfiles: Sequence[str]) -> dict[Key, float]:
    """The amounts of work of today's plan."""
    project, found = configured_project(configfiles), defaultdict[Key, float](float)
    arithmetic = Arithmetic(project)
    for job in planned_jobs([TARGET], configfiles, project.config.results):
        names = [job.wildcards.get(name) for name in NAMES]
        if job.wildcards.get("round", "0") != "0":
            names.append(f"round {job.wildcards['round']}")
        for kind, amount in (arithmetic.job_work(job) or {}).items():
            found[job.stage, " ".join(filter(None, names)), kind] += amount
    return found


def hours(amounts: Amounts, rates: Rates) -> dict[tuple[str, str], float]:
    """(stage, of) -> hours of one core."""
    found = defaultdict[tuple[str, str], float](float)
    for (stage, of, kind), amount in amounts.items():
        found[stage, of] += amount / rates.by_kind[kind] / 3600
    return found


def changes(before: Amounts, after: Amounts) -> set[tuple[str, str]]:
    """The (stage, of) whose hours differ by more than a hundredth on the core of the estimates."""
    both = [hours(amounts, Rates(ESTIMATES)) for amounts in (before, after)]
    named = both[0].keys() | both[1].keys()
    return {key for key in named if abs(both[0].get(key, 0) - both[1].get(key, 0)) > 0.01 * both[0].get(key, 0)}


def page(rates: Rates) -> str:
    """The page. Raises `ValueError` for a difference without a reason."""
    planned, corrected = (
        {key: float(amount) for key, amount in read_amounts(name).items()} for name in ("before", "corrections")
    )
    before, after = {**planned, **corrected}, planned_amounts([str(ROOT / CHEAPER)])
    if unexplained := changes(before, after) - LEVERS.keys():
        raise ValueError(f"differences without a reason: {sorted(unexplained)}")
    cores = {"AMD EPYC with AVX2 (estimates)": Rates(ESTIMATES)}
    if rates.measured is not None:
        cores[f"{processor()} (measured {rates.measured})"] = rates
    tables = [_table(name, core, planned, before, after) for name, core in cores.items()]
    return "\n\n".join(["# Flickr30k's table, before and after", SAID, *tables]) + "\n"


HEAD = "| stage | of | planned at 5febe9e3 | before | after | why |\n| --- | --- | ---: | ---: | ---: | --- |"
SAID = """*Planned* are the amounts of work that commit 5febe9e3 planned (`flickr30k_before.csv`), and *before* these
with the corrections of `flickr30k_corrections.csv`. *After* is today's plan with
`examples/flickr30k_cheaper.yaml`. The plan of this table has no box that is scored on a map, so that the
heads that are counted there now correct nothing here. All are estimates of one core's hours, made by
`python -m tools.flickr30k_costs`; stages below an hour are in the last row alone."""


def _table(core: str, rates: Rates, *sides: Amounts) -> str:
    found = [hours(amounts, rates) for amounts in sides]
    reasons = {key[:2]: reason for key, reason in reversed(read_amounts("corrections", "reason").items())}
    lines = [f"## Hours of one core: {core}\n\n{HEAD}"]
    for key in sorted(set().union(*found)):
        numbers = [side.get(key, 0.0) for side in found]
        why = "; ".join(of[key] for of in (reasons, LEVERS) if key in of)
        if max(numbers) >= 1:
            lines.append(f"| {' | '.join(key)} | {' | '.join(f'{number:.1f}' for number in numbers)} | {why} |")
    totals = " | ".join(f"{sum(side.values()):.1f}" for side in found)
    return "\n".join([*lines, f"| all | | {totals} | |"])


if __name__ == "__main__":
    (TABLES / "flickr30k_costs.md").write_text(page(known_rates()), encoding="utf-8")

"""`python -m tests.system.fuzz`: damaged files for each reader, and overrides of the configuration, all from a seed.

Each file is read or refused by name. Each override is refused by its path, or all can be planned with it: by the
functions that the rules are made with and, for some, by Snakemake. Exits with 1 if anything else comes of one.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from snakeproof.logs import logger
from tests.projects import Project, copy_code
from tests.system.fuzz import own_files, readers
from tests.system.fuzz.configuration import Override, is_named, overrides, overriding, refusal
from tests.system.fuzz.trial import REFUSED, VALID, outcomes


def files_of_readers(files: int, seed: int, only: str) -> int:
    """Prints a line for each reader, and each unexpected outcome; returns the number of these."""
    wrong = 0
    for name, target in (readers.targets() | own_files.targets()).items():
        if only in name:
            found = outcomes(target, range(seed, seed + files))
            others = {what: count for what, count in found.items() if what not in (VALID, REFUSED)}
            line = f"{name:20} {found[VALID]:4} read {found[REFUSED]:4} refused {sum(others.values()):4} wrong"
            print(line, flush=True)
            for what, count in others.items():
                print(f"    {count} x {what[:300]}")
            wrong += sum(others.values())
    return wrong


def configuration(count: int, seed: int, plans: int) -> int:
    """Prints how many overrides were refused and accepted, and each other outcome; returns the number of these."""
    refused, taken, wrong = 0, list[Override](), list[str]()

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(overrides)
    def draw(override: Override) -> None:
        nonlocal refused
        try:
            message = refusal(override)
        except Exception as error:  # the fuzz is there to find which
            wrong.append(f"{override}: {type(error).__name__}: {error}")
            return
        if message is None:
            taken.append(override)
        else:
            refused += 1
            wrong.extend([f"{override}: {message}"] if not is_named(override[0], message) else [])

    draw()
    wrong += planned_by_snakemake(taken[:plans])
    print(
        f"overrides: {refused} refused, {len(taken)} taken, {min(plans, len(taken))} of these planned by Snakemake too"
    )
    print("".join(f"    {what[:500]}\n" for what in wrong), end="")
    return len(wrong)


def planned_by_snakemake(taken: list[Override]) -> list[str]:
    """The output of a dry run for each override with which it fails badly."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        project = Project(copy_code(Path(folder, "project")))
        for override in taken:
            project.configure(overriding(*override))
            status, text = project.plan("results/tables/scenes.md")
            wrong += [f"{override}: {text[-400:]}"] if status else []
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100, help="spoilt files for each reader")
    parser.add_argument("--overrides", type=int, default=1000, help="overrides of the configuration")
    parser.add_argument("--plans", type=int, default=20, help="overrides that Snakemake plans with too")
    parser.add_argument("--seed", type=int, default=0, help="of the first file; each has the next one")
    parser.add_argument("--only", default="", help="a part of the readers' names")
    options = parser.parse_args()
    logger.setLevel(logging.ERROR)
    found = files_of_readers(options.files, options.seed, options.only)
    found += configuration(options.overrides, options.seed, options.plans) if options.overrides else 0
    sys.exit(1 if found else 0)

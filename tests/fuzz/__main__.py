"""`python -m tests.fuzz`: 100 spoilt files for each reader; exits with 1 if any outcome is neither read nor refused."""

import argparse
import logging
import sys

from densevse.logs import logger
from tests.fuzz.readers import targets
from tests.fuzz.trial import REFUSED, VALID, outcomes


def main(files: int, seed: int, only: str) -> int:
    """Print a line for each reader, and each outcome that should not be; the number of these."""
    logger.setLevel(logging.ERROR)
    wrong = 0
    for name, target in targets().items():
        if only in name:
            found = outcomes(target, range(seed, seed + files))
            others = {what: count for what, count in found.items() if what not in (VALID, REFUSED)}
            line = f"{name:20} {found[VALID]:4} read {found[REFUSED]:4} refused {sum(others.values()):4} wrong"
            print(line, flush=True)
            for what, count in others.items():
                print(f"    {count} x {what[:300]}")
            wrong += sum(others.values())
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100, help="spoilt files for each reader")
    parser.add_argument("--seed", type=int, default=0, help="of the first; each has the next one")
    parser.add_argument("--only", default="", help="a part of the readers' names")
    options = parser.parse_args()
    sys.exit(1 if main(options.files, options.seed, options.only) else 0)

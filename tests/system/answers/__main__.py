"""`python -m tests.system.answers`: downloads from a server with odd answers, as a table, answer by answer.

Behind each odd answer is a good address. Exits with 1 if a file with wrong bytes got its final name, if a download
still waits, or if it ended otherwise than it should.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from snakeproof.logs import logger
from tests.system.answers.trial import KNOWN, UNTRIED, Trial, answered, is_as_expected, outcomes


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.system.answers", description=__doc__)
    options.add_argument("--spoilt", type=int, default=100, help="answers that are made at random")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    logger.setLevel(logging.ERROR)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        found = outcomes(answered(chosen.spoilt, chosen.seed), Path(folder))
    print(f"| answer | {' | '.join(f'known: {known}' for known in KNOWN)} |\n|---|---|---|---|")
    for answer in dict.fromkeys(trial.answer for trial in found):
        if not answer.startswith("spoilt"):
            print(f"| {answer} | {' | '.join(found.get(Trial(answer, known), UNTRIED) for known in KNOWN)} |")
    spoilt = [what for trial, what in found.items() if trial.answer.startswith("spoilt")]
    for what in sorted(set(spoilt)):
        print(f"{spoilt.count(what)} of {len(spoilt)} answers spoilt at random: {what}")
    wrong = [(trial, what) for trial, what in found.items() if not is_as_expected(trial, what)]
    print(f"{len(found)} trials, {len(wrong)} wrong")
    for trial, what in wrong:
        print(f"    {trial.answer}, {trial.known} known: {what[:300]}, expected {trial.expected}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

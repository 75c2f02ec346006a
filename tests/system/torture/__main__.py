"""`make torture`: interrupts the scenes run at random moments, in every way, and writes the outcomes as a table."""

import argparse
import copy
import functools
import itertools
import os
import shutil
import sys
import tempfile
from pathlib import Path

from snakeproof.files import write_text
from tests.projects import SMALL_ROUNDS, Project, copy_code
from tests.system.torture import trial

# Trainings long enough that many moments fall into one, with a checkpoint at each step.
LONG = copy.deepcopy(SMALL_ROUNDS)
LONG["methods"]["vse"]["datasets"]["scenes"]["training"] = {"checkpoint_steps": 1}
LONG["methods"]["vse"]["datasets"]["scenes"]["phases"]["main"]["epochs"] = 30
LONG["methods"]["hm_lstm"]["datasets"]["scenes"]["training"] = {"checkpoint_steps": 1}
for phase in ("sentences", "phrases"):
    LONG["methods"]["hm_lstm"]["datasets"]["scenes"]["phases"][phase]["epochs"] = 6

PARSER = "SIGKILL of the CoreNLP server"
TRIALS = {
    **dict.fromkeys(trial.HARMS, trial.kill_trial),
    **dict.fromkeys(trial.DISK_HARMS, trial.disk_trial),
    PARSER: trial.parser_trial,
}


def project(folder: Path, name: str, values: dict) -> Project:
    made = Project(copy_code(folder / name))
    made.configure(values)
    return made


def reference(folder: Path, name: str, values: dict) -> tuple[dict[str, bytes], int]:
    """The tables of an undisturbed run, and its number of jobs."""
    undisturbed = project(folder, name, values)
    trial.finish(undisturbed, at_most=1)
    return trial.tables(undisturbed), trial.jobs_ended(undisturbed)


def possible() -> list[str]:
    """The harms that this machine allows; prints those that are left out."""
    chosen = [*trial.HARMS]
    if os.geteuid() == 0:
        chosen += trial.DISK_HARMS
    else:
        print("not root: no full disk and no read-only results folder")
    if shutil.which("java") and (shutil.which("mvn") or "CORENLP_HOME" in os.environ):
        chosen.append(PARSER)
    else:
        print("no java, or neither mvn nor CORENLP_HOME: no killed CoreNLP server")
    return chosen


def main(trials: int, seed: int, harms: list[str]) -> bool:
    """Runs the trials, each harm in turn, and returns whether all were survived."""
    parsed = copy.deepcopy(LONG)
    parsed["datasets"]["scenes"]["parser"] = "corenlp_pcfg"
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        undisturbed = functools.cache(lambda parser: reference(folder, parser, parsed if parser == "corenlp" else LONG))
        for number, harm in zip(range(trials), itertools.cycle(harms), strict=False):
            values, parser = (parsed, "corenlp") if harm == PARSER else (LONG, "grammar")
            tables, jobs = undisturbed(parser)
            if harm == PARSER:  # what the undisturbed run fetched serves all
                os.environ.setdefault("CORENLP_HOME", str(folder / parser / "resources/corenlp"))
            moment = trial.Moment.draw(seed, number, jobs)
            outcome = TRIALS[harm](project(folder, f"trial{number}", values), harm, moment, tables)
            print(outcome.row(), flush=True)
            outcomes.append(outcome)
            write_text(table(outcomes, seed), "results/torture.md")
            shutil.rmtree(folder / f"trial{number}")
    return all(outcome.survived for outcome in outcomes)


def table(outcomes: list[trial.Outcome], seed: int) -> str:
    rows = "\n".join([trial.HEADER, *(outcome.row() for outcome in outcomes)])
    survived = sum(outcome.survived for outcome in outcomes)
    return f"{rows}\n\n{survived} of {len(outcomes)} survived; seed {seed}.\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--harms", nargs="+", choices=list(TRIALS), help="only these, in turn")
    chosen = parser.parse_args()
    sys.exit(0 if main(chosen.trials, chosen.seed, chosen.harms or possible()) else 1)

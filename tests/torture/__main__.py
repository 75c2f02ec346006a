"""`make torture`: interrupt the scenes run at random moments, in every way, and print what happened as a table."""

import argparse
import copy
import itertools
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from densevse.artifacts.files import write_text
from tests.projects import SMALL, Project, copy_code
from tests.torture import trial


def project(folder: Path, name: str, values: dict) -> Project:
    made = Project(copy_code(folder / name))
    made.configure(values)
    return made


def reference(folder: Path, name: str, values: dict) -> tuple[dict[str, bytes], float]:
    """The tables of a run that nobody disturbs, and how long it takes in seconds."""
    undisturbed = project(folder, name, values)
    began = time.monotonic()
    trial.finish(undisturbed, at_most=1)
    return trial.tables(undisturbed), time.monotonic() - began


def harms() -> list[str]:
    """The harms that this machine allows, in turn; what is left out is said."""
    chosen = [*trial.HARMS]
    if os.geteuid() == 0:
        chosen += ["full disk", "read-only results"]
    else:
        print("not root: no full disk and no read-only results folder")
    if shutil.which("java") and shutil.which("mvn"):
        chosen.append("SIGKILL of the CoreNLP server")
    else:
        print("no java or mvn: no killed CoreNLP server")
    return chosen


def main(trials: int, seed: int) -> bool:
    """Run the trials and say whether all were survived."""
    small = {**SMALL, "datasets": {"scenes": {**SMALL["datasets"]["scenes"], "compare": ["vse", "hm_lstm"]}}}
    parsed = copy.deepcopy(small)
    parsed["datasets"]["scenes"]["parser"] = "corenlp_pcfg"
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        by_grammar, seconds = reference(folder, "reference", small)
        by_parser: dict[str, bytes] = {}
        for number, harm, moment in zip(
            range(trials), itertools.cycle(harms()), trial.moments(seed, trials, seconds), strict=False
        ):
            if harm == "SIGKILL of the CoreNLP server":
                by_parser = by_parser or reference(folder, "parsed", parsed)[0]
                victim = project(folder, f"trial{number}", parsed)
                outcome = trial.parser_trial(victim, moment % 8, by_parser)
            elif harm in trial.HARMS:
                outcome = trial.kill_trial(project(folder, f"trial{number}", small), harm, moment, by_grammar)
            else:
                outcome = trial.disk_trial(project(folder, f"trial{number}", small), harm, moment, by_grammar)
            print(outcome.row(), flush=True)
            outcomes.append(outcome)
            shutil.rmtree(folder / f"trial{number}")
    survived = sum(outcome.survived for outcome in outcomes)
    table = "\n".join([trial.HEADER, *(outcome.row() for outcome in outcomes)])
    write_text(f"{table}\n\n{survived} of {len(outcomes)} survived; seed {seed}.\n", "results/torture.md")
    print(f"{survived} of {len(outcomes)} survived")
    return survived == len(outcomes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    sys.exit(0 if main(chosen.trials, chosen.seed) else 1)

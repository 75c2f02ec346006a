"""`make feature-scales`: the settings of Flickr30K and MS-COCO on features of other scales, as a table of verdicts.

It reads the artifacts of a data set that a run of the workflow left in results/, such as Flickr8k's, and takes each
method's settings on another data set. A trial is the first epochs of round 0.
"""

import argparse
import sys
import time

from densevse.command.shared import configured_project
from densevse.runtime.errors import InputError
from tools.feature_scales.trial import Outcome, Trial, files_of, job_of, run

HEAD = ["| method | images | scale | steps | loss of each epoch | rsum of each epoch | chance | alike | verdict |"]
HEAD += ["|---|---:|---:|---:|---|---|---:|---:|---|"]


def line(trial: Trial, outcome: Outcome) -> str:
    """A row of the table."""
    losses = ", ".join(f"{loss:.4g}" for loss in outcome.losses)
    rsums = ", ".join(f"{rsum:.0f}" for rsum in outcome.rsums)
    return (
        f"| {trial.variant} | {trial.images:,} | {trial.scale:g} | {outcome.steps} | {losses} | {rsums} "
        f"| {outcome.chance:.0f} | {outcome.alike:.2f} | {outcome.verdict} |"
    )


def main(asked: argparse.Namespace) -> None:
    """Runs the trials one after the other, and prints a row after each."""
    project = configured_project(asked.configfile)
    print(*HEAD, sep="\n", flush=True)
    for variant in asked.methods:
        for images in asked.images:
            for scale in asked.scales:
                trial = Trial(variant, scale, images, asked.settings_of, asked.epochs)
                begun = time.process_time()
                outcome = run(files_of(project, asked.dataset, trial), job_of(project, trial), scale)
                print(line(trial, outcome), flush=True)
                print(f"{variant}: {time.process_time() - begun:.0f} s of one core", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+", help="variants of config/methods")
    parser.add_argument("--dataset", default="flickr8k", help="the data set whose artifacts are read")
    parser.add_argument("--settings-of", default="flickr30k", help="the data set whose settings are tried")
    parser.add_argument("--scales", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--images", type=int, nargs="+", default=[1500])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE")
    try:
        main(parser.parse_args())
    except InputError as error:
        sys.exit(f"feature-scales: {error}")
    except FileNotFoundError as error:
        sys.exit(f"feature-scales: {error.filename} is not there; make it with snakemake, or name another --dataset.")

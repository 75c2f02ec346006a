"""The trainings whose draw a file says: those of a shortlist, and the chosen one with a test seed."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.analyses.effort.choice import CHOICE, SHORTLIST, chosen_draw, kept_rsum, shortlisted_draws
from densevse.data.files import Files
from densevse.training.checkpoints import fingerprint
from densevse.training.retrieval import train
from snakeproof import schema
from snakeproof.logs import logger


def train_shortlist(
    jobs: Sequence[Mapping[str, Any]],
    within: float,
    histories: Sequence[str],
    code: str,
    output: str,
    **files: str | list[str],
) -> None:
    """The job that trains each draw of a shortlist with one seed (SHORTLIST); its models are not kept.

    `jobs` has the training of each draw, and `histories` the HISTORY of its first training, which decides the list. An
    interrupted job continues: the histories of its finished draws, and a checkpoint, are in a work folder.
    """
    folder, found = Path(output).parent / f".work-{Path(output).stem}", []
    folder.mkdir(parents=True, exist_ok=True)
    for number in shortlisted_draws([kept_rsum(path) for path in histories], within):
        made_from = fingerprint({**jobs[number], "code": code}, Files(files).paths())
        history = folder / f"{made_from}.parquet"
        if not history.exists():
            train(jobs[number], code, str(folder / f"draw{number}.safetensors"), str(history), **files)
        found.append({"draw": number, "val_rsum": kept_rsum(str(history))})
    schema.write(found, SHORTLIST, output)
    shutil.rmtree(folder)


def train_chosen_draw(
    jobs: Sequence[Mapping[str, Any]],
    choice: str,
    code: str,
    model: str,
    history: str,
    **files: str | list[str],
) -> None:
    """The job that trains the draw that `choice` (CHOICE) says; `jobs` has the settings of all, as `train` has them."""
    number = chosen_draw(schema.read(choice, CHOICE))
    logger.info("draw %d of %d is the best on val", number, len(jobs))
    train(jobs[number], code, model, history, **files)

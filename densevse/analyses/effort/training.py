"""The trainings whose draw a file says: those of a shortlist, and the chosen one with a test seed."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.analyses.effort.choice import CHOICE, SHORTLIST, chosen_draw, kept_rsum, shortlisted_draws
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

    `jobs` has the training of each draw, and `histories` the HISTORY of its first training, which decides the list.
    """
    found = []
    for number in shortlisted_draws([kept_rsum(path) for path in histories], within):
        with tempfile.TemporaryDirectory(dir=Path(output).parent) as folder:
            model, history = (str(Path(folder, name)) for name in ("model.safetensors", "history.parquet"))
            train(jobs[number], code, model, history, **files)
            found.append({"draw": number, "val_rsum": kept_rsum(history)})
    schema.write(found, SHORTLIST, output)


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

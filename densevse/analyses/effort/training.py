"""The training of the chosen draw with a fresh seed."""

from collections.abc import Mapping, Sequence
from typing import Any

from densevse.analyses.effort.choice import DRAWS, chosen_draw
from densevse.training.retrieval import train
from snakeproof import schema
from snakeproof.logs import logger


def train_chosen_draw(
    jobs: Sequence[Mapping[str, Any]],
    choice: str,
    code: str,
    model: str,
    history: str,
    **files: str | list[str],
) -> None:
    """The job that trains the draw that `choice` (DRAWS) says; `jobs` has the settings of all, as `train` has them."""
    number = chosen_draw(schema.read(choice, DRAWS))
    logger.info("draw %d of %d is the best on val", number, len(jobs))
    train(jobs[number], code, model, history, **files)

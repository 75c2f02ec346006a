"""One training job: from artifacts to a model and its history."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from densevse.artifacts import schema
from densevse.artifacts.files import checksum
from densevse.artifacts.schemas.training import HISTORY
from densevse.logs import logger
from densevse.numerics import seed_everything, set_up
from densevse.settings.load import validate
from densevse.settings.model import Training
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.data import Files, Inputs
from densevse.training.loop import Trainer
from densevse.training.models import build, load_weights, save_model


def train(
    files: Files,
    previous: str | None,
    code: str,
    settings: Mapping[str, Any],
    seed: int,
    threads: int,
    model: str | Path,
    history: str | Path,
) -> None:
    """Train a method and write its `model` and `history`.

    `settings` holds model, parameters and training of a variant (see densevse.settings.model.Method). With a
    `previous` model (the round before) training starts from its weights. Interrupted, it saves a checkpoint beside
    the model and goes on from there when it is run again with the same settings, inputs and `code` (a digest).
    """
    device = set_up(threads)
    made_from = {"settings": dict(settings), "seed": seed, "threads": threads, "device": device.type}
    checkpoint = Checkpoint(
        model, fingerprint({**made_from, "code": code}, _paths(files) + ([previous] if previous else []))
    )
    inputs = Inputs(files)
    pairs, val = inputs.pairs("train"), inputs.pairs("val")
    seed_everything(seed, settings["model"], Path(model).parent.name)
    method = build(settings["model"], settings["parameters"], inputs.shapes())
    if previous:
        load_weights(method, previous)
        logger.info("starting from the weights of %s", previous)
    training = validate(Training, settings["training"], "training")
    rows = Trainer(method.to(device), training, pairs, val, seed, checkpoint).run()
    schema.write(rows, HISTORY, history, made_from)
    read = {"vocabulary": checksum(files.words), "features": inputs.features_made_from()}
    save_model(method, settings["model"], model, {**made_from, **read, "fingerprint": checkpoint.fingerprint})
    checkpoint.remove()


def _paths(files: Files) -> list[str]:
    named = asdict(files)
    several = [path for paths in named.pop("features").values() for path in paths] + named.pop("parses")
    return [*several, *(path for path in named.values() if path)]

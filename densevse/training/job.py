"""One training job of a retrieval method: from artifacts to a model and its history."""

from pathlib import Path

from densevse.artifacts.lineage import lineage
from densevse.batches.files import Files
from densevse.batches.inputs import Inputs
from densevse.inference.models import build, load_weights, save_model
from densevse.logs import logger
from densevse.numerics import seed_everything, set_up
from densevse.settings.training import TrainingJob
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Plan, Trainer, write_history
from densevse.training.retrieval import Retrieval


def train(files: Files, start: str | None, job: TrainingJob, model: str | Path, history: str | Path) -> None:
    """Train a method and write its `model` and `history`.

    With a model to `start` from (the round before, or another method's) training begins with its weights, and keeps
    them if no epoch is better. Interrupted, it saves a checkpoint beside the model and goes on from there when it is
    run again with the same settings, inputs and code.
    """
    device = set_up(job.threads)
    settings = {**job.model_dump(mode="json"), "device": device.type}
    # Only what the rule gives: a setting that is new, and whose default nothing reads yet, makes no other training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(model, fingerprint(given, [*files.paths(), *([start] if start else [])]))
    inputs = Inputs(files, job.sentences)
    seed_everything(job.seed, job.method, f"round{job.round}")
    method = build(job.method, job.parameters, inputs.shapes())
    if start:
        load_weights(method, job.method, start)
        logger.info("starting from the weights of %s", start)
    train_pairs = inputs.pairs("train", method.regions_read)
    val_pairs = inputs.pairs("val", method.regions_read, job.training.validation_images)
    task = Retrieval(method.to(device), train_pairs, val_pairs)
    plan = Plan(job.training, job.phases, job.seed, job.round, validate_start=start is not None)
    rows = Trainer(task, plan, checkpoint).run()
    made_from = lineage(settings, _parents(files, start))
    write_history(rows, history, made_from)
    read = {"features": inputs.features_made_from(), "fingerprint": checkpoint.fingerprint}
    save_model(method, job.method, job.sentences, model, {**made_from, **read})
    checkpoint.remove()


def _parents(files: Files, start: str | None) -> dict[str, list[str]]:
    """What a model is made of. The correspondences of a round were made by the model that it starts from."""
    # The weights that a network begins with are known by the features that were made with them.
    named = {name: paths for name, paths in files.named().items() if name not in ("start", "network")}
    return named if start is None or "correspondences" in named else {**named, "start": [start]}

"""Releases the network of `scenes`: float16 weights, and a model card from recorded values.

`make scenes-network` trains the network, writes both, and copies them to config/networks/.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import torch
from safetensors.torch import save_file

from densevse.vision.networks import read_state
from snakeproof.errors import InputError
from snakeproof.files import atomic_file, checksum
from snakeproof.seals import sealed_file
from snakeproof.statements import Statement, parents, read_statement, statement_metadata

LARGEST = 3_000_000  # bytes, as every clone of the project contains the file


def release(trained: str | Path, history: str | Path, weights: str | Path, card: str | Path) -> None:
    """The job that writes `trained` weights in float16, and the card.

    Raises `InputError` for a file of more than 3 MB, or a weight that exceeds float16.
    """
    halves = {
        name: value.half() if value.is_floating_point() else value for name, value in read_state(Path(trained)).items()
    }
    for name, value in halves.items():
        if not torch.isfinite(value).all():
            raise InputError(f"{trained}: {name} has values beyond float16's largest, 65,504. Train the network again.")
    with sealed_file(weights) as temporary:
        save_file(halves, temporary, statement_metadata())
        if (size := temporary.stat().st_size) > LARGEST:
            raise InputError(
                f"{trained}: {size:,} bytes in float16, more than the {LARGEST:,} that a clone should hold."
            )
    with atomic_file(card) as temporary:
        text = _card(read_statement(trained), pd.read_parquet(history), Path(weights), halves)
        temporary.write_text(text, encoding="utf-8")


def _card(made: Statement, history: pd.DataFrame, released: Path, weights: Mapping[str, torch.Tensor]) -> str:
    best, job = history[history["best"]].iloc[0], made.given["job"]
    options = parents(made)["image_table"][0].given["reading"]["options"]
    rows = {
        "Architecture": f"`densevse/scenes/network.py`: {sum(value.numel() for value in weights.values()):,} values, "
        f"{len(weights['classifier.fc8.bias'])} classes, a feature of 512 values",
        "Input": "RGB, {size} x {size} pixels, mean {mean}, standard deviation {std}".format(**job["pixels"]),
        "Data": f"{options['images']['train']:,} pictures that `make_scenes` drew from seed {options['seed']}, three "
        "windows of each in an epoch; none is a picture of scenes, which has another seed",
        "Training": "; ".join(
            f"{phase['name']}: {phase['epochs']} epochs, learning rate {phase['learning_rate']} to "
            f"{phase['final_learning_rate']}"
            for phase in job["phases"]
        )
        + "; {optimizer}, batches of {batch_size}, weight decay {weight_decay}".format(**job["training"]),
        "Time": f"{history['seconds'].sum() / 60:.0f} minutes on {job['threads']} thread(s) of a "
        f"{made.found['device']}, with other work beside",
        "Accuracy": f"{best['accuracy']:.3f} of the windows of {options['images']['val']:,} other pictures "
        f"(val): its class is told; epoch {best['epoch']} of {history['epoch'].max()}",
        "File": f"float16, {released.stat().st_size:,} bytes, sha256 `{checksum(released)}`",
        "Licence": "that of this repository",
        "Limits": "It knows drawn things in five shapes and four colours, and nothing of photographs",
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join(
        [
            "# Model card: the network of scenes",
            "",
            "It takes the place of ImageNet's networks on the generated data set. `make scenes-network` trains it "
            "again and writes this card.",
            "",
            "| | |",
            "| --- | --- |",
            *lines,
            "",
        ]
    )

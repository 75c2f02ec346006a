"""Releases the network of `scenes`: float16 weights, and a model card from recorded values.

`make scenes-network` trains the network, writes both, and copies them to config/networks/.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from safetensors.torch import save_file

from densevse.artifacts.files import atomic, checksum
from densevse.artifacts.lineage import PARENTS, made_from, metadata
from densevse.artifacts.seals import sealed
from densevse.runtime.errors import InputError
from densevse.vision.networks import read_state

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
    made = made_from(trained)
    with sealed(weights) as temporary:
        save_file(halves, temporary, metadata(made))
        if (size := temporary.stat().st_size) > LARGEST:
            raise InputError(
                f"{trained}: {size:,} bytes in float16, more than the {LARGEST:,} that a clone should hold."
            )
    with atomic(card) as temporary:
        temporary.write_text(_card(made, pd.read_parquet(history), Path(weights), halves), encoding="utf-8")


def _card(made: Mapping[str, Any], history: pd.DataFrame, released: Path, weights: Mapping[str, torch.Tensor]) -> str:
    best = history[history["best"]].iloc[0]
    data = made[PARENTS]["images"]
    rows = {
        "Architecture": f"`densevse/scenes/network.py`: {sum(value.numel() for value in weights.values()):,} values, "
        f"{len(made['classes'])} classes, a feature of 512 values",
        "Input": "RGB, {size} x {size} pixels, mean {mean}, standard deviation {std}".format(**made["pixels"]),
        "Data": f"{data['options']['images']['train']:,} pictures that `make_scenes` drew from seed "
        f"{data['options']['seed']}, three windows of each in an epoch; none is a picture of scenes, which has another "
        "seed",
        "Training": "; ".join(
            f"{phase['name']}: {phase['epochs']} epochs, learning rate {phase['learning_rate']} to "
            f"{phase['final_learning_rate']}"
            for phase in made["phases"]
        )
        + "; {optimizer}, batches of {batch_size}, weight decay {weight_decay}".format(**made["training"]),
        "Time": f"{history['seconds'].sum() / 60:.0f} minutes on {made['threads']} thread(s) of a {made['device']}, "
        "with other work beside",
        "Accuracy": f"{best['accuracy']:.3f} of the windows of {data['options']['images']['val']:,} other pictures "
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

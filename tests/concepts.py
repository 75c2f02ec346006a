"""Images with synthetic, visible concepts: each is a direction of features, or a colour of pixels."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.config.training import NamedPhase, TrainingConfig
from densevse.training.concepts import ConceptJob
from snakeproof import schema
from snakeproof.store import FeatureWriter

NAMES = ["red", "green", "blue"]
SPLITS = {"train": 60, "val": 24, "test": 20}
D = 6


def vocabulary(folder, present, ids):
    kinds = {"kind": "adjective", "count": 9, "image_count": 5}
    rows = [{"index": index, "concept": name, "forms": [name], **kinds} for index, name in enumerate(NAMES)]
    schema.write(rows, CONCEPTS, folder / "concepts.parquet")
    rows = [{"image_id": image, "concepts": np.flatnonzero(has)} for image, has in zip(ids, present, strict=True)]
    schema.write(rows, IMAGE_CONCEPTS, folder / "image_concepts.parquet")


def pictures(folder, present):
    """A picture of each image: a vertical stripe in the colour of each of its concepts."""
    (folder / "images").mkdir()
    for number, has in enumerate(present):
        pixels = np.full((40, 60, 3), 90, np.uint8)
        for concept in np.flatnonzero(has):
            pixels[:, 20 * concept : 20 * concept + 20, concept] = 250
        Image.fromarray(pixels).save(folder / f"images/{number}.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images whose regions show one concept each; the whole image shows a little of all its concepts."""
    made, random = tmp_path_factory.mktemp("concepts"), np.random.default_rng(0)
    splits = [split for split, count in SPLITS.items() for _ in range(count)]
    present = random.random((len(splits), len(NAMES))) < 0.5
    ids = [f"{split}{number}" for number, split in enumerate(splits)]
    rows = pd.DataFrame({"image_id": ids, "split": splits, "family": ids, "source": "images", "status": "ok"})
    rows = rows.assign(file=[f"{number}.png" for number in range(len(ids))], width=60, height=40, sha256="", captions=1)
    schema.write(rows, IMAGES, made / "images.parquet")
    vocabulary(made, present, ids)
    pictures(made, present)
    with FeatureWriter(made / "regions.parquet", REGION_FEATURES, (D,), np.float16) as file:
        for image, has in zip(ids, present, strict=True):
            vectors = random.normal(scale=0.3, size=(1 + has.sum(), D))
            for region, concept in enumerate(np.flatnonzero(has), start=1):
                vectors[region, concept] += 2
                vectors[0, concept] += 0.6
            regions = pd.DataFrame({"image_id": image, "rank": range(len(vectors)), "score": 1.0, "class_name": ""})
            file.append(regions.assign(x=0.0, y=0.0, width=8.0, height=8.0), vectors)
    return made


def tables(folder):
    return {name: str(folder / f"{name}.parquet") for name in ("images", "concepts", "image_concepts")}


class Written(NamedTuple):
    """The files that a training writes."""

    weights: str
    history: str
    classes: str


def written(folder):
    return Written(*(str(folder / name) for name in ("head.safetensors", "history.parquet", "classes.txt")))


def job(epochs=8, rate=0.1, kind=ConceptJob, **changes):
    phases = [NamedPhase(name="main", epochs=epochs, learning_rate=rate)]
    return kind(concept_network="multi", training=TrainingConfig(batch_size=16), phases=phases, seed=0, **changes)

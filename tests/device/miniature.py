"""The miniature data set with every view of images and every structure of sentences that a configuration may name."""

from pathlib import Path
from typing import get_args

import numpy as np

from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import PARSES, TAGS
from densevse.language.triplets import DependenciesOfParse, write_relations
from snakeproof import schema
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureWriter
from tests.crops import write_pictures, write_regions
from tests.device.papers import write_word_vectors
from tests.miniature import KNOWN, SIZE, sentence, write_features, write_parses, write_tables

TAG_NAMES = ["NN", "DT", "."]
GRID, CONCEPTS, WORD_VECTOR = (4, SIZE), 3, 8  # sizes of what only some methods read


def write_everything(folder: Path) -> None:
    """Write the artifacts of the data set into an empty folder."""
    random = np.random.default_rng(0)
    images, captions = write_tables(folder, random)
    write_features(folder, images, random)
    write_parses(folder, captions)
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tags"] = [["DT" if word == "a" else TAG_NAMES[0] for word in tokens] for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet")
    rows = [{"index": number, "tag": tag, "count": 1} for number, tag in enumerate(TAG_NAMES, 2)]
    schema.write(rows, TAGS, folder / "tags.parquet")
    for kind in get_args(DependenciesOfParse):
        tables = [str(folder / f"{name}.parquet") for name in ("captions", "parses", "words")]
        written = str(folder / f"relations-{kind}.parquet"), str(folder / f"fragments-{kind}.parquet")
        wildcards = {"dependencies": kind}
        with making(Statement(wildcards=wildcards)):
            write_relations(tables[0], [tables[1]], tables[2], wildcards, *written)
    write_word_vectors(folder / "vectors.parquet", KNOWN, WORD_VECTOR)
    for name, shape in (("grid", GRID), ("concepts", (CONCEPTS,))):
        with FeatureWriter(folder / f"{name}.parquet", IMAGE_FEATURES, shape, np.float16) as file:
            file.append(images[["image_id"]], random.random(size=(len(images), *shape)))
    tokens = [sentence(random).split() for _ in range(len(images))]
    written = {"rank": 1, "sentence": "", "tokens": tokens, "score": 0.0, "log_likelihood": 0.0, "translation": 0.0}
    written |= {"language": 0.0, "tags": [[]] * len(images), "in_training": False}
    schema.write(images[["image_id"]].assign(**written), GENERATED, folder / "generated.parquet")
    write_regions(folder, write_pictures(folder))
    (folder / "described.parquet").replace(folder / "regions.parquet")

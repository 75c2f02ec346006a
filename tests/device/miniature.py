"""The miniature data set with every view of images and every structure of sentences that a configuration may name."""

from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.vocabulary import TAGS, WORD_VECTORS
from densevse.artifacts.store import FeatureWriter
from densevse.config.declared.structures import STRUCTURES
from densevse.config.declared.views import VIEWS
from densevse.data.files import Files
from densevse.language.triplets import DependenciesOfParse, write_relations
from tests.crops import write_pictures, write_regions
from tests.miniature import KNOWN, SIZE, sentence, write_features, write_parses, write_tables

CELLS, CONCEPTS, WORD_VECTOR = 4, 3, 8
TAG_NAMES = ["NN", "DT", "."]


def write_everything(folder: Path) -> None:
    """Write the artifacts of the data set into an empty folder."""
    random = np.random.default_rng(0)
    images, captions = write_tables(folder, random)
    write_features(folder, images, random)
    write_parses(folder, captions)
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tags"] = [["DT" if word == "a" else TAG_NAMES[0] for word in tokens] for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet", {})
    rows = [{"index": number, "tag": tag, "count": 1} for number, tag in enumerate(TAG_NAMES, 2)]
    schema.write(rows, TAGS, folder / "tags.parquet", {})
    for kind in get_args(DependenciesOfParse):
        tables = [str(folder / f"{name}.parquet") for name in ("captions", "parses", "words")]
        written = str(folder / f"relations-{kind}.parquet"), str(folder / f"fragments-{kind}.parquet")
        write_relations(tables[0], [tables[1]], tables[2], None, kind, written)
    vectors = random.normal(size=(len(KNOWN), WORD_VECTOR)).astype(np.float32)
    rows = pd.DataFrame({"index": range(2, 2 + len(KNOWN)), "word": KNOWN, "found": True, "vector": list(vectors)})
    schema.write(rows, WORD_VECTORS, folder / "vectors.parquet", {})
    for name, shape in (("grid", (CELLS, SIZE)), ("concepts", (CONCEPTS,))):
        with FeatureWriter(folder / f"{name}.parquet", IMAGE_FEATURES, shape, np.float16, {}) as file:
            file.append(images[["image_id"]], random.random(size=(len(images), *shape)))
    tokens = [sentence(random).split() for _ in range(len(images))]
    written = {"rank": 1, "sentence": "", "tokens": tokens, "score": 0.0, "log_likelihood": 0.0, "translation": 0.0}
    written |= {"language": 0.0, "tags": [[]] * len(images), "in_training": False}
    schema.write(images[["image_id"]].assign(**written), GENERATED, folder / "generated.parquet", {})
    write_regions(folder, write_pictures(folder))


def files_of(folder: Path, views: list[str], structures: list[str], dependencies: str, word_vectors: bool) -> Files:
    """The files of a job that reads these views and structures, as the plan would name them."""

    def path(name: str) -> str:
        return str(folder / f"{name}.parquet")

    named: dict[str, str | list[str]] = {
        "image_table": path("images"),
        "caption_table": path("captions"),
        "words": path("words"),
        "tokens": path("tokens"),
    }
    for view in views:
        named[f"view_{view}"] = [path(_features_of(view))]
        if VIEWS[view].pixels:
            named |= {"source_images": str(folder / "pictures"), "network": str(folder / "network.safetensors")}
    for structure in (STRUCTURES[name] for name in structures):
        if structure.parsed:
            named["parses"] = [path("parses")]
        for name, file in structure.vocabularies.items():
            named[name] = path(file.format(dependencies="basic" if structure.basic else dependencies))
    if word_vectors:
        named["word_vectors"] = path("vectors")
    return Files(named)


def _features_of(view: str) -> str:
    """The file that a view is read from: one for all views of one vector, and one for all views of concepts."""
    declared = VIEWS[view]
    if declared.one_vector:
        return "whole"
    if declared.pixels or declared.of_proposals:
        return "described"
    if declared.made_by != "network":
        return {"concept_network": "concepts", "generator": "generated"}[declared.made_by]
    return view

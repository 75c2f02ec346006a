"""The miniature data set with every view of images and every structure of sentences that a configuration may name."""

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import PARSES, TAGS, WORD_VECTORS
from densevse.artifacts.store import FeatureWriter
from densevse.config.registries import STRUCTURES, VIEWS
from densevse.data.files import Files
from densevse.language.triplets import DependenciesOfParse, write_relations
from tests.crops import write_pictures, write_regions
from tests.miniature import MINIATURE, SIZE, Sizes, sentence, write_features, write_parses, write_tables

TAG_NAMES = ["NN", "DT", "."]


@dataclass(frozen=True)
class FurtherSizes:
    """The sizes of what only some methods read."""

    grid: tuple[int, int] = (4, SIZE)  # cells and values
    concepts: int = 3
    word_vector: int = 8


def write_everything(folder: Path, sizes: Sizes = MINIATURE, further: FurtherSizes | None = None) -> None:
    """Write the artifacts of the data set into an empty folder."""
    random, further = np.random.default_rng(0), further or FurtherSizes()
    images, captions = write_tables(folder, random, sizes)
    write_features(folder, images, random, sizes)
    write_parses(folder, captions)
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tags"] = [["DT" if word == "a" else TAG_NAMES[0] for word in tokens] for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet", {})
    rows = [{"index": number, "tag": tag, "count": 1} for number, tag in enumerate(TAG_NAMES, 2)]
    schema.write(rows, TAGS, folder / "tags.parquet", {})
    for kind in get_args(DependenciesOfParse):
        tables = [str(folder / f"{name}.parquet") for name in ("captions", "parses", "words")]
        written = str(folder / f"relations-{kind}.parquet"), str(folder / f"fragments-{kind}.parquet")
        write_relations(tables[0], [tables[1]], tables[2], {"dependencies": kind}, *written)
    write_word_vectors(folder, sizes, further.word_vector)
    for name, shape in (("grid", further.grid), ("concepts", (further.concepts,))):
        with FeatureWriter(folder / f"{name}.parquet", IMAGE_FEATURES, shape, np.float16, {}) as file:
            file.append(images[["image_id"]], random.random(size=(len(images), *shape)))
    tokens = [sentence(random, sizes).split() for _ in range(len(images))]
    written = {"rank": 1, "sentence": "", "tokens": tokens, "score": 0.0, "log_likelihood": 0.0, "translation": 0.0}
    written |= {"language": 0.0, "tags": [[]] * len(images), "in_training": False}
    schema.write(images[["image_id"]].assign(**written), GENERATED, folder / "generated.parquet", {})
    write_regions(folder, write_pictures(folder))


def write_word_vectors(folder: Path, sizes: Sizes, length: int) -> None:
    """Random vectors of all words."""
    vectors = np.random.default_rng(1).normal(size=(len(sizes.known), length)).astype(np.float32)
    known = {"index": range(2, 2 + len(sizes.known)), "word": sizes.known, "found": True}
    schema.write(pd.DataFrame({**known, "vector": list(vectors)}), WORD_VECTORS, folder / "vectors.parquet", {})


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

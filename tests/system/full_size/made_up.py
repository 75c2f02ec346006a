"""A data set of a real one's size and layout with nothing in it: tiny pictures, random features, sentences of scenes.

Its vocabulary is as large as Flickr30k's. Features and parses are written by the workflow's own jobs, whose functions
are exchanged meanwhile (`standing_in`), so they state what the stages would have stated which are left out.
"""

import json
import math
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pandas as pd

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.shards import shard_names, shard_slice
from densevse.language.parses import Parse, write_parses
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family
from snakeproof import schema
from snakeproof.store import FeatureWriter

SENTENCES = 5
WORDS = 18_000
REGIONS = 20
TEMPLATES = 500
NETWORK, PROPOSER, PARSER = "vgg19", "made_up", "grammar"
NUMBERS_AT_ONCE = 10_000_000  # random features that are made in one go
STAND_INS = {
    "densevse.vision.extract:extract_features",
    "densevse.vision.extract_regions:extract_regions",
    "densevse.scenes.grammar:parse_by_grammar",
}
"""The functions of jobs that functions of this file, of the same names, stand in for."""
RUNNER = "snakeproof/runner.py"


@dataclass(frozen=True)
class Size:
    """The sizes of a made-up data set."""

    splits: Mapping[str, int]  # images
    shards: int
    views: Mapping[str, tuple[int, ...]]  # shape of the features of an image, or of a region
    shortest: int = 0  # words of a sentence

    @property
    def images(self) -> int:
        return sum(self.splits.values())

    @property
    def feature_bytes(self) -> int:
        return sum(2 * math.prod(self._of_image(view)) for view in self.views) * self.images

    @property
    def shard_files(self) -> list[str]:
        """The files of features and parses, below the folder of the data set's results."""
        kinds = [f"features/{NETWORK}/{f'regions-{PROPOSER}' if view == 'regions' else view}" for view in self.views]
        return [f"{kind}/{one}.parquet" for kind in (*kinds, f"parses/{PARSER}") for one in shard_names(self.shards)]

    def reduced(self, images: int) -> "Size":
        """The same with so many images; each split and the shards have their share."""
        splits = {split: max(1, round(images * count / self.images)) for split, count in self.splits.items()}
        splits["train"] = images - splits["val"] - splits["test"]
        return replace(self, splits=splits, shards=max(1, round(images * self.shards / self.images)))

    def _of_image(self, view: str) -> tuple[int, ...]:
        return (REGIONS, *self.views[view]) if view == "regions" else self.views[view]


def write_sources(folder: Path, dataset: str, size: Size) -> None:
    """The pictures (images.zip), Karpathy's file (karpathy.zip) and pre-trained vectors of every word (vectors.txt).

    And the boxes of a proposer (boxes.parquet), the shapes of features in the place of a network's weights
    (no_weights.pth), and a file that nothing is read from (empty.zip).
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "no_weights.pth").write_text(json.dumps(size.views))
    zipfile.ZipFile(folder / "empty.zip", "w").close()
    random, sentences = np.random.default_rng(0), made_up_sentences(size.shortest)
    entries, words = [], set()
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for split, count in size.splits.items():
            for number in range(count):
                name = f"{split}{number}.jpg"
                pixels = random.integers(0, 256, (6, 8, 3), np.uint8)
                archive.writestr(name, cv2.imencode(".jpg", cv2.resize(pixels, (80, 60)))[1].tobytes())
                texts = [next(sentences) for _ in range(SENTENCES)]
                words |= {word.lower() for text in texts for word in text.split()}
                entries.append({"filename": name, "split": split, "sentences": [{"raw": text} for text in texts]})
    names = pd.DataFrame({"image_id": [entry["filename"] for entry in entries]})
    _regions(names).to_parquet(folder / "boxes.parquet", index=False)
    with zipfile.ZipFile(folder / "karpathy.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"dataset_{dataset}.json", json.dumps({"images": entries}))
    with open(folder / "vectors.part", "w") as file:
        for word in sorted(words):
            print(word, *random.normal(size=300).round(4), file=file)
    os.replace(folder / "vectors.part", folder / "vectors.txt")


@contextmanager
def standing_in(project: Path) -> Iterator[None]:
    """Lets the jobs of a project call the functions of this file in the place of `STAND_INS`."""
    root, called = Path(__file__).parents[3], "import_module(module)"
    text = (root / RUNNER).read_text()
    assert called in text
    shutil.copy(__file__, project)
    exchanged = f"import_module('made_up' if call in {STAND_INS} else module)"
    (project / RUNNER).write_text(text.replace(called, exchanged))
    try:
        yield
    finally:
        (project / RUNNER).write_text(text)


def extract_features(image_table: str, weights: str, output: str, wildcards: Mapping[str, str], **_: object) -> None:
    """Writes random features of each image of a shard, as a network's would be."""
    _write(output, IMAGE_FEATURES, _images(image_table, wildcards["shard"]), _shape(weights, wildcards["view"]))


def extract_regions(image_table: str, weights: str, output: str, wildcards: Mapping[str, str], **_: object) -> None:
    """The same of `REGIONS` regions of each image."""
    rows = _regions(_images(image_table, wildcards["shard"]))
    _write(output, REGION_FEATURES, rows, _shape(weights, "regions"))


def parse_by_grammar(images: str, captions: str, output: str, wildcards: Mapping[str, str]) -> None:
    """Writes the parses of a shard's captions."""
    write_parses(MadeUpParser(), images, captions, wildcards["shard"], output)


def _images(table: str, shard: str) -> pd.DataFrame:
    rows = schema.read(table, IMAGES)
    return rows.iloc[shard_slice(shard, len(rows))][["image_id"]]


def _shape(weights: str, view: str) -> tuple[int, ...]:
    return tuple(json.loads(Path(weights).read_text())[view])


def _regions(images: pd.DataFrame) -> pd.DataFrame:
    """The rows of the regions of these images, whose boxes are distinct."""
    rows = images.loc[images.index.repeat(REGIONS)].reset_index(drop=True)
    rank = rows.groupby("image_id").cumcount()
    boxes = {"x": rank.astype(float), "y": 0.0, "width": 60.0, "height": 60.0, "score": 1.0, "class_name": "thing"}
    return rows.assign(rank=rank, **boxes)


def _write(path: str, kind: schema.Schema, rows: pd.DataFrame, shape: tuple[int, ...]) -> None:
    random, at_once = np.random.default_rng(0), NUMBERS_AT_ONCE // math.prod(shape)
    with FeatureWriter(path, kind, shape, np.float16) as writer:
        for first in range(0, len(rows), at_once):
            part = rows.iloc[first : first + at_once]
            writer.append(part, random.random((len(part), *shape), np.float32))


def made_up_sentences(shortest: int) -> Iterator[str]:
    """Sentences of scenes whose nouns carry numbers, rare ones seldom, so that there are about `WORDS` words.

    They have at least `shortest` words.
    """
    random = np.random.default_rng(1)
    known = [parse for parse in templates().values() if len(parse.tokens) >= shortest]
    nouns = len({word for parse in known for word, tag in zip(parse.tokens, parse.tags, strict=True) if tag == "NN"})
    while True:
        parse = known[random.integers(len(known))]
        numbers = random.zipf(1.2, len(parse.tokens)) % (WORDS // nouns)
        yield " ".join(
            f"{word}{number}" if tag == "NN" else word
            for word, tag, number in zip(parse.tokens, parse.tags, numbers, strict=True)
        )


@cache
def templates() -> dict[str, Parse]:
    """Sentences of scenes, tokens space separated, with their parses."""
    random, texts = np.random.default_rng(2), []
    while len(texts) < TEMPLATES:
        texts += [sentence.text for scene in sample_family(random) for sentence in describe(scene, random)]
    parses = GrammarParser().parse(texts[:TEMPLATES])
    return {" ".join(parse.tokens): parse for parse in parses}


class MadeUpParser:
    """Reads `made_up_sentences`: the parse of a template, with its words exchanged."""

    def parse(self, texts: list[str]) -> list[Parse]:
        return [self._parse(text.split()) for text in texts]

    def _parse(self, tokens: list[str]) -> Parse:
        template = templates()[re.sub(r"\d+", "", " ".join(tokens))]
        leaves = iter(tokens)
        tree = re.sub(r"[^\s()]+(?=\))", lambda _: next(leaves), template.tree)
        return replace(template, tokens=tokens, lemmas=tokens, tree=tree)

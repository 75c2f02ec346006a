"""A data set of a real one's size and layout with nothing in it: tiny pictures, random features, sentences of scenes.

Its vocabulary is as large as Flickr30k's. Features and parses are written by the package's own writers, with the
lineage that the stages would have given them which are left out.
"""

import json
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.shards import shard_names, shard_slice
from densevse.artifacts.store import FeatureWriter
from densevse.config.config import Config
from densevse.dag.features import deciding
from densevse.dag.fields import REGION_OPTIONS_FIELDS, passed
from densevse.language.parses import Parse, write_parses
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family
from densevse.vision.extract import NetworkFiles

SENTENCES = 5
WORDS = 18_000
REGIONS = 20
TEMPLATES = 500
NETWORK, PROPOSER, PARSER = "vgg19", "made_up", "grammar"
NUMBERS_AT_ONCE = 10_000_000  # random features that are made in one go


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

    def reduced(self, images: int) -> "Size":
        """The same with so many images; each split and the shards have their share."""
        splits = {split: max(1, round(images * count / self.images)) for split, count in self.splits.items()}
        splits["train"] = images - splits["val"] - splits["test"]
        return replace(self, splits=splits, shards=max(1, round(images * self.shards / self.images)))

    def _of_image(self, view: str) -> tuple[int, ...]:
        return (REGIONS, *self.views[view]) if view == "regions" else self.views[view]


def write_sources(folder: Path, dataset: str, size: Size) -> None:
    """The pictures (images.zip), Karpathy's file (karpathy.zip) and pre-trained vectors of every word (vectors.txt).

    And the boxes of a proposer (boxes.parquet), and files that nothing is read from: no_weights.pth, empty.zip.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "no_weights.pth").touch()
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


def write_features(images: Path, folder: Path, size: Size, made_from: Callable[[str, str], dict]) -> list[Path]:
    """Random features of each image and of `REGIONS` regions, in shards, as a network's would be.

    `made_from` gives the lineage of a view's shard. Shards that are there stay. Returns the files.
    """
    table, paths = schema.read(images, IMAGES), []
    for shard, view in ((shard, view) for shard in shard_names(size.shards) for view in size.views):
        path = folder / (f"regions-{PROPOSER}" if view == "regions" else view) / f"{shard}.parquet"
        paths.append(path)
        if not path.exists():
            rows = table.iloc[shard_slice(shard, len(table))][["image_id"]]
            kind = REGION_FEATURES if view == "regions" else IMAGE_FEATURES
            rows = _regions(rows) if view == "regions" else rows
            _write(path, kind, rows, size.views[view], made_from(view, shard))
    return paths


def lineage_of_features(config: Config, images: Path, weights: Path, view: str, shard: str) -> dict:
    """The lineage that the extraction of a view's shard by `NETWORK` records; `images` lies beside the proposals."""
    entry = config.networks[NETWORK]
    if view != "regions":
        return NetworkFiles(NETWORK, deciding(entry, view), weights).made_from(images, view=view)
    settings = {**deciding(entry, view), "regions": passed(entry.regions, REGION_OPTIONS_FIELDS)}
    proposals = {"proposals": images.parent / f"proposals/{PROPOSER}/{shard}.parquet"}
    return NetworkFiles(NETWORK, settings, weights).made_from(images, proposals, view=view, all_stay=False)


def _regions(images: pd.DataFrame) -> pd.DataFrame:
    """The rows of the regions of these images, whose boxes are distinct."""
    rows = images.loc[images.index.repeat(REGIONS)].reset_index(drop=True)
    rank = rows.groupby("image_id").cumcount()
    boxes = {"x": rank.astype(float), "y": 0.0, "width": 60.0, "height": 60.0, "score": 1.0, "class_name": "thing"}
    return rows.assign(rank=rank, **boxes)


def _write(path: Path, kind: schema.Schema, rows: pd.DataFrame, shape: tuple[int, ...], made_from: dict) -> None:
    random, at_once = np.random.default_rng(0), NUMBERS_AT_ONCE // math.prod(shape)
    with FeatureWriter(path, kind, shape, np.float16, made_from) as writer:
        for first in range(0, len(rows), at_once):
            part = rows.iloc[first : first + at_once]
            writer.append(part, random.random((len(part), *shape), np.float32))


def write_all_parses(images: Path, captions: Path, folder: Path, size: Size) -> list[Path]:
    """The parses of all captions, in shards; those that are there stay. Returns the files."""
    paths = [folder / f"{shard}.parquet" for shard in shard_names(size.shards)]
    for path in paths:
        if not path.exists():
            made_from = {"parser": PARSER, "kind": PARSER}
            write_parses(MadeUpParser(), str(images), str(captions), path.stem, str(path), made_from)
    return paths


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

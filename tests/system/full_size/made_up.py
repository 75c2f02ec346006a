"""A data set of a real one's size and layout with nothing in it: tiny pictures, random features, sentences of scenes.

Its vocabulary is as large as Flickr30k's. Features and parses are written by the package's own writers.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
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
from densevse.language.parses import Parse, write_parses
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family

SENTENCES = 5
WORDS = 18_000
REGIONS = 20
TEMPLATES = 500
AT_ONCE = 100  # images whose random features are made in one go
MADE_FROM = {"network": "none: random numbers"}


@dataclass(frozen=True)
class Size:
    """The sizes of a made-up data set."""

    splits: Mapping[str, int]  # images
    shards: int
    values: int  # of an image's or a region's vector
    shortest: int = 0  # words of a sentence

    @property
    def images(self) -> int:
        return sum(self.splits.values())

    @property
    def feature_bytes(self) -> int:
        return self.images * (1 + REGIONS) * self.values * 2


def write_sources(folder: Path, dataset: str, size: Size) -> None:
    """The pictures (images.zip), Karpathy's file (karpathy.zip) and pre-trained vectors of every word (vectors.txt).

    And files that nothing is read from: no_weights.pth, no_boxes.parquet, empty.zip.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("no_weights.pth", "no_boxes.parquet"):
        (folder / name).touch()
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
    with zipfile.ZipFile(folder / "karpathy.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"dataset_{dataset}.json", json.dumps({"images": entries}))
    with open(folder / "vectors.txt", "w") as file:
        for word in sorted(words):
            print(word, *random.normal(size=300).round(4), file=file)


def write_features(images: Path, folder: Path, size: Size) -> None:
    """Random features of each image and of `REGIONS` regions, in shards, as a network's would be."""
    table = schema.read(images, IMAGES)
    for shard in shard_names(size.shards):
        rows = table.iloc[shard_slice(shard, len(table))]
        _write(folder / f"whole/{shard}.parquet", IMAGE_FEATURES, rows[["image_id"]], size.values)
        regions = rows[["image_id"]].loc[rows.index.repeat(REGIONS)].reset_index(drop=True)
        rank = regions.groupby("image_id").cumcount()
        boxes = {"x": 0.0, "y": 0.0, "width": 80.0, "height": 60.0, "score": 1.0, "class_name": "thing"}
        regions = regions.assign(rank=rank, **boxes)
        _write(folder / f"regions-made_up/{shard}.parquet", REGION_FEATURES, regions, size.values)


def _write(path: Path, kind: schema.Schema, rows: pd.DataFrame, values: int) -> None:
    random = np.random.default_rng(0)
    with FeatureWriter(path, kind, (values,), np.float16, MADE_FROM) as writer:
        for first in range(0, len(rows), AT_ONCE * REGIONS):
            part = rows.iloc[first : first + AT_ONCE * REGIONS]
            writer.append(part, random.random((len(part), values), np.float32))


def write_all_parses(images: Path, captions: Path, folder: Path, size: Size) -> None:
    for shard in shard_names(size.shards):
        path = str(folder / f"{shard}.parquet")
        write_parses(MadeUpParser(), str(images), str(captions), shard, path, {"parser": "made up"})


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

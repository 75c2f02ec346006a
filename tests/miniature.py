"""A data set of a few synthetic images and sentences, as artifacts in a test's folder."""

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.sentences import PARSES, TOKENS, WORDS
from densevse.data.files import Files
from snakeproof import schema
from snakeproof.store import FeatureWriter

KNOWN = ["a", "dog", "cat", "runs", "sleeps", "red", "blue", "small", "."]
SIZE = 6
SPLITS = {"train": 12, "val": 4, "test": 3}  # images


def sentence(generator):
    return " ".join(generator.choice(KNOWN[:-1], generator.integers(2, 7))) + " ."


def write_tables(folder, generator):
    splits = [split for split, count in SPLITS.items() for _ in range(count)]
    images = pd.DataFrame({"image_id": [f"{split}{i}" for i, split in enumerate(splits)], "split": splits})
    counts = np.resize((1, 2, 3), len(images))
    full = images.assign(source="images", file=images["image_id"], width=8, height=8, sha256="", captions=counts)
    schema.write(full.assign(family=full["image_id"], status="ok"), IMAGES, folder / "images.parquet")
    captions = images.loc[images.index.repeat(counts)]
    captions = captions.assign(
        position=captions.groupby("image_id").cumcount(),
        text=[sentence(generator) for _ in range(len(captions))],
    )
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    schema.write(captions, CAPTIONS, folder / "captions.parquet")
    tokens = captions[["caption_id", "image_id", "split"]].assign(tokens=captions["text"].str.split())
    schema.write(tokens, TOKENS, folder / "tokens.parquet")
    rows = pd.DataFrame({"index": range(2, 2 + len(KNOWN)), "word": KNOWN, "count": 1})
    schema.write(rows, WORDS, folder / "words.parquet")
    return images, captions


def write_features(folder, images, generator):
    with FeatureWriter(folder / "whole.parquet", IMAGE_FEATURES, (SIZE,), np.float16, network="miniature") as file:
        file.append(images[["image_id"]], generator.normal(size=(len(images), SIZE)))
    regions = images.loc[images.index.repeat(np.resize((1, 2, 3, 4), len(images))), ["image_id"]]
    regions["rank"] = regions.groupby("image_id").cumcount()
    regions = regions.assign(x=0.0, y=0.0, width=8.0, height=8.0, score=1.0, class_name="")
    with FeatureWriter(folder / "regions.parquet", REGION_FEATURES, (SIZE,), np.float16) as file:
        file.append(regions, generator.normal(size=(len(regions), SIZE)))


def flat_tree(tokens):
    """A noun phrase of all words but the last two, then those: (S (NP ...) (VP w) (. .))."""
    leaves = [f"(NN {token})" for token in tokens]
    return f"(ROOT (S (NP {' '.join(leaves[:-2])}) (VP {leaves[-2]}) {leaves[-1]}))"


def links(tokens, enhanced):
    """Every word depends on the last word but one, and no two neighbours in the same way."""
    verb = len(tokens) - 2
    kinds = [["det", "obl:on" if enhanced else "obl"][place % 2] for place in range(verb)] + ["root", "punct"]
    governors = [verb] * verb + [-1, verb]
    return [
        {"relation": kind, "governor": governor, "dependent": place}
        for place, (kind, governor) in enumerate(zip(kinds, governors, strict=True))
    ]


def write_parses(folder, captions):
    def row(caption):
        tokens = caption.text.split()
        failed = caption.caption_id == captions["caption_id"].iloc[0]
        return {
            "caption_id": caption.caption_id,
            "image_id": caption.image_id,
            "text": caption.text,
            "status": "too long" if failed else "ok",
            "tokens": [] if failed else tokens,
            "lemmas": [],
            "tags": [],
            "tree": "" if failed else flat_tree(tokens),
            "basic_dependencies": [] if failed else links(tokens, enhanced=False),
            "enhanced_dependencies": [] if failed else links(tokens, enhanced=True),
        }

    schema.write([row(caption) for caption in captions.itertuples()], PARSES, folder / "parses.parquet")


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(0)
    images, captions = write_tables(tmp_path, generator)
    write_features(tmp_path, images, generator)
    write_parses(tmp_path, captions)
    return tmp_path


@pytest.fixture
def files(folder):
    return Files(
        {
            "image_table": str(folder / "images.parquet"),
            "caption_table": str(folder / "captions.parquet"),
            "words": str(folder / "words.parquet"),
            "tokens": str(folder / "tokens.parquet"),
            "view_whole": [str(folder / "whole.parquet")],
        }
    )

"""Random data of the sizes that the papers' methods read for Flickr30k, as artifacts in a folder.

Sentences have nested trees and many relations, as parsed ones have. It imports neither pytest nor a network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.sentences import PARSES, RELATIONS, TOKENS, WORD_VECTORS, WORDS
from snakeproof import schema
from snakeproof.store import FeatureWriter

AT_ONCE = 50  # images whose random features are made in one go
CAPTIONS_OF_IMAGE = 5
SHORTEST, LONGEST = 8, 16  # words of a sentence, before its full stop
RELATION_NAMES = [f"relation{number}" for number in range(48)]
FREQUENT = 19
"""Relations that the sentences have; the table's others are too rare for DeFrag."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the data, of which 16 images are for validation."""

    images: int = 1_060
    words: int = 8_000
    regions: int = 20
    cells: int = 196
    concepts: int = 256
    vector: int = 4_096  # values of an image's or a region's vector
    cell: int = 512  # values of a cell's vector

    @property
    def known(self) -> list[str]:
        """The words; the last one ends a sentence."""
        return [*(f"w{number}" for number in range(self.words - 1)), "."]


VALIDATED = 16


def write_inputs(folder: Path, sizes: Sizes) -> None:
    """Writes every artifact that the methods of the papers read, except word vectors, into an empty folder."""
    random = np.random.default_rng(0)
    known = sizes.known
    images = _write_images(folder, sizes)
    captions = _write_captions(folder, images, np.array(known[:-1]), random)
    _write_parses(folder, captions, random)
    rows = pd.DataFrame({"index": range(2, 2 + len(known)), "word": known, "count": 1})
    schema.write(rows, WORDS, folder / "words.parquet")
    for name, shape in (
        ("whole", (sizes.vector,)),
        ("concepts", (sizes.concepts,)),
        ("grid", (sizes.cells, sizes.cell)),
    ):
        _write_features(folder / f"{name}.parquet", IMAGE_FEATURES, images, shape)
    regions = images.loc[images.index.repeat(sizes.regions)]
    regions = regions.assign(rank=regions.groupby("image_id").cumcount(), score=1.0, class_name="")
    regions = regions.assign(x=0.0, y=0.0, width=8.0, height=8.0)
    _write_features(folder / "regions.parquet", REGION_FEATURES, regions, (sizes.vector,))


def write_word_vectors(path: Path, known: Sequence[str], length: int) -> None:
    """Writes random vectors of words, numbered from 2."""
    vectors = np.random.default_rng(1).standard_normal((len(known), length), np.float32)
    rows = pd.DataFrame({"index": range(2, 2 + len(known)), "word": known, "found": True, "vector": list(vectors)})
    schema.write(rows, WORD_VECTORS, path)


def nested_tree(tokens: Sequence[str]) -> str:
    """A bracketed tree of a phrase in a phrase in a phrase, two levels for every three words, then the last token."""
    return f"(ROOT (S {_phrase(tokens[:-1])} (. {tokens[-1]})))"


def _phrase(words: Sequence[str]) -> str:
    if len(words) < 4:
        return f"(NP {' '.join(f'(NN {word})' for word in words)})"
    return f"(NP (DT {words[0]}) (NN {words[1]}) (PP (IN {words[2]}) {_phrase(words[3:])}))"


def _write_images(folder: Path, sizes: Sizes) -> pd.DataFrame:
    splits = ["train"] * (sizes.images - VALIDATED) + ["val"] * VALIDATED
    images = pd.DataFrame({"image_id": [f"i{number}" for number in range(sizes.images)], "split": splits})
    stated = {"source": "images", "width": 8, "height": 8, "sha256": "", "status": "ok", "captions": CAPTIONS_OF_IMAGE}
    rows = images.assign(file=images["image_id"], family=images["image_id"], **stated)
    schema.write(rows, IMAGES, folder / "images.parquet")
    return images


def _write_captions(
    folder: Path, images: pd.DataFrame, words: NDArray[np.str_], random: np.random.Generator
) -> pd.DataFrame:
    """Writes the captions and their tokens; returns both."""
    captions = images.loc[images.index.repeat(CAPTIONS_OF_IMAGE)]
    captions = captions.assign(position=captions.groupby("image_id").cumcount())
    lengths = random.integers(SHORTEST, LONGEST + 1, len(captions))
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    captions["tokens"] = [[*words[random.integers(len(words), size=length)], "."] for length in lengths]
    captions["text"] = captions["tokens"].str.join(" ")
    schema.write(captions.drop(columns="tokens"), CAPTIONS, folder / "captions.parquet")
    tokens = captions[["caption_id", "image_id", "split", "tokens"]]
    schema.write(tokens, TOKENS, folder / "tokens.parquet")
    return captions


def _write_parses(folder: Path, captions: pd.DataFrame, random: np.random.Generator) -> None:
    """Writes the parses and the tables of relations."""
    links = [_links(len(tokens), random) for tokens in captions["tokens"]]
    parsed = {"status": "ok", "lemmas": [[]] * len(captions), "tags": [[]] * len(captions)}
    parsed |= {"tree": captions["tokens"].map(nested_tree), "basic_dependencies": links, "enhanced_dependencies": links}
    rows = captions[["caption_id", "image_id", "text", "tokens"]].assign(**parsed)
    schema.write(rows, PARSES, folder / "parses.parquet")
    share = np.where(np.arange(len(RELATION_NAMES)) < FREQUENT, 1 / FREQUENT, 0.0)
    counted = {"index": range(len(RELATION_NAMES)), "relation": RELATION_NAMES, "count": 1, "count_of_all": 1}
    rows = pd.DataFrame({**counted, "share": share, "share_of_all": share})
    for kind in ("basic", "enhanced"):
        schema.write(rows, RELATIONS, folder / f"relations-{kind}.parquet", dependencies=kind)


def _links(tokens: int, random: np.random.Generator) -> list[dict[str, object]]:
    """Every word depends on the one before."""
    kinds = [RELATION_NAMES[number] for number in random.integers(FREQUENT, size=tokens)]
    return [
        {"relation": kind, "governor": place - 1, "dependent": place} for place, kind in enumerate(["root", *kinds[1:]])
    ]


def _write_features(path: Path, kind: schema.Schema, rows: pd.DataFrame, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(2)
    stated = rows[[column.name for column in kind.columns]]
    with FeatureWriter(path, kind, shape, np.float16) as file:
        for first in range(0, len(stated), AT_ONCE):
            part = stated.iloc[first : first + AT_ONCE]
            file.append(part, random.standard_normal((len(part), *shape), np.float32))

"""Synthetic retrievals of the images and sentences of ECCV Caption and CxC."""

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL

LISTED = 50


def rankings(truth, seed):
    """Direction -> query -> 50 candidates, best first: some of the true ones of each benchmark among others."""
    random, found = np.random.default_rng(seed), {}
    for direction, other in (("i2t", "t2i"), ("t2i", "i2t")):
        candidates, found[direction] = np.array(list(truth.own[other])), {}
        drawn = random.choice(candidates, (len(truth.own[direction]), LISTED + 20)).tolist()
        for query, others in zip(truth.own[direction], drawn, strict=True):
            true = {answer for of in truth.benchmarks.values() for answer in of[direction].get(query, [])}
            ranked = sorted(true & truth.own[other].keys())
            kept = random.permutation(ranked)[: random.integers(len(ranked) + 1)].tolist()
            listed = list(dict.fromkeys([*kept, *others]))[:LISTED]
            found[direction][query] = random.permutation(listed).tolist()
    return found


def caption_id(sentence):
    return f"sentence {sentence}"


def write_tables(folder, truth):
    """IMAGES, with some of the training split, and CAPTIONS of the test split."""
    ids = [*map(str, range(9_000_000, 9_000_020)), *map(str, truth.own["i2t"])]
    images = pd.DataFrame({"image_id": ids, "source": "val2014", "file": "a.jpg"})
    images = images.assign(
        split=["train"] * 20 + ["test"] * 5000,
        width=4,
        height=4,
        sha256="",
        captions=5,
        status="ok",
        family=images["image_id"],
    )
    rows = [
        (caption_id(sentence), str(image), place, sentence)
        for image, sentences in truth.own["i2t"].items()
        for place, sentence in enumerate(sentences)
    ]
    captions = pd.DataFrame(rows, columns=["caption_id", "image_id", "position", "sentid"]).assign(
        text="a", split="test"
    )
    schema.write(images, IMAGES, folder / "images.parquet", {}, Identity("coco"))
    schema.write(captions, CAPTIONS, folder / "captions.parquet", {}, Identity("coco"))


def write_retrieval(path, found, variant="mine", seed=0):
    """A RETRIEVAL artifact of rankings, with scores that descend from place to place."""
    parts = []
    for direction, query_id, candidate_id in (("i2t", str, caption_id), ("t2i", caption_id, str)):
        of = found[direction]
        rows = pd.DataFrame({"query_id": list(map(query_id, of)), "direction": direction})
        rows["top"] = [list(map(candidate_id, listed)) for listed in of.values()]
        rows["top_scores"] = [np.arange(len(listed), 0, -1, dtype=np.float32) for listed in of.values()]
        rows["top_true"] = [[False] * len(listed) for listed in of.values()]
        parts.append(rows)
    rows = pd.concat(parts, ignore_index=True).assign(fold=0, rank=1, tied=False, candidates=5000)
    of = Identity("coco", variant, seed, None, "full", "test")
    schema.write(rows, RETRIEVAL, path, {"parents": {}}, of)
    return str(path)

"""The files besides data sets that a user may bring: boxes, weights, packed vectors, those of analyses; and parses."""

import gzip
import io
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save
from scipy.io import savemat

from densevse.artifacts.schemas.sentences import PARSES
from densevse.language.trees import read_tree
from densevse.language.word_vectors import read_vectors
from densevse.vision.caffe import CONVOLUTIONS, convert_caffemodel
from densevse.vision.mcg.candidates import FEATURES
from densevse.vision.mcg.learning import sample_of_authors
from densevse.vision.networks import read_state
from densevse.vision.proposals import propose
from snakeproof import schema
from tests.projects import ROOT
from tests.system.fuzz.readers import NAMES, Target, made
from tests.vision.caffemodel import caffemodel

IMAGES = pd.DataFrame(
    {"image_id": list(NAMES), "source": "images", "file": [f"{n}.jpg" for n in NAMES], "width": 30, "height": 20}
).assign(status="ok")
BOXES = pd.DataFrame(
    {"image_id": list(NAMES), "x": 1.0, "y": 2.0, "width": 8.0, "height": 6.5, "score": 0.5, "class_name": "dog"}
)


def proposals(kind: str, **options: str) -> Callable[[Path], Any]:
    """Read boxes as the workflow does; options are names of files in the folder."""

    def read(folder: Path) -> pd.DataFrame:
        paths = {key: str(folder / file) for key, file in options.items()}
        return propose(IMAGES, slice(None), {}, {"kind": kind, "options": paths}, 1)

    return read


def boxes_of(kind: str, frame: pd.DataFrame) -> dict[str, Target]:
    parquet = made(lambda path: frame.to_parquet(path, index=False))
    files = {"csv": frame.to_csv(index=False).encode(), "parquet": parquet}
    return {
        f"{kind} {suffix}": Target(
            {f"boxes.{suffix}": data}, f"boxes.{suffix}", proposals(kind, path=f"boxes.{suffix}")
        )
        for suffix, data in files.items()
    }


def matlab(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, arrays, do_compression=True)
    return buffer.getvalue()


def state_dict() -> dict[str, torch.Tensor]:
    return {"features.weight": torch.arange(12.0).reshape(3, 4), "features.bias": torch.ones(3)}


def pickled_state() -> bytes:
    buffer = io.BytesIO()
    torch.save(state_dict(), buffer)
    return buffer.getvalue()


def caffe_weights() -> bytes:
    layers = {
        name: ("Convolution", [np.ones((channels, inputs // groups, kernel, kernel), np.float32), np.ones(channels)])
        for name, (inputs, channels, kernel, _, _, groups) in CONVOLUTIONS.items()
    }
    for name, (outputs, inputs) in {"fc6": (2, 9216), "fc7": (2, 2), "fc-rcnn": (3, 2)}.items():
        layers[name] = ("InnerProduct", [np.ones((outputs, inputs), np.float32), np.ones(outputs)])
    return caffemodel(layers)


def parses() -> bytes:
    """Parses of two sentences, the second of which could not be parsed."""
    rows = [{**SENTENCE, "caption_id": f"{name}.jpg#0", "image_id": f"{name}.jpg"} for name in NAMES]
    return made(lambda path: schema.write(rows, PARSES, path))


SENTENCE = {
    "text": "Two dogs run",
    "status": "ok",
    "tokens": ["Two", "dogs", "run"],
    "lemmas": ["two", "dog", "run"],
    "tags": ["CD", "NNS", "VBP"],
    "tree": "(ROOT (S (NP (CD Two) (NNS dogs)) (VP (VBP run))))",
    "basic_dependencies": [{"relation": "nsubj", "governor": 2, "dependent": 1}],
    "enhanced_dependencies": [{"relation": "nsubj", "governor": 2, "dependent": 1}],
}


def trees_of(folder: Path) -> list[Any]:
    return [read_tree(tree) for tree in schema.read(folder / "parses.parquet", PARSES)["tree"]]


def vectors(file: str, member: str | None = None) -> Callable[[Path], Any]:
    return lambda folder: read_vectors(folder / file, {"dogs", "run"}, "glove", 2, member)


def zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def of_analyses() -> dict[str, Target]:
    """The readers of analyses, each of which says its own in densevse/analyses/<name>/tests/own_files.py."""
    names = [file.parents[1].name for file in (ROOT / "densevse/analyses").glob("*/tests/own_files.py")]
    modules = [import_module(f"densevse.analyses.{name}.tests.own_files") for name in sorted(names)]
    return {name: target for module in modules for name, target in module.targets().items()}


def targets() -> dict[str, Target]:
    """Every reader of these by name."""
    glove = b"dogs 0.5 1.5\nrun 2 3\n"
    corners = np.array([[1, 1, 20, 30], [2, 3, 10, 12]], np.uint16)
    published = matlab(boxes=corners, scores=np.array([[0.5], [0.25]]))
    sample = matlab(features=np.ones((3, len(FEATURES))), jaccards=np.array([[0.1], [0.5], [0.9]]))
    return {
        **boxes_of("file", BOXES.drop(columns="class_name")),
        **boxes_of("detections", BOXES),
        "mat boxes": Target({f"{n}.mat": published for n in NAMES}, "a.mat", proposals("mcg_published", folder="")),
        "mat sample": Target({"s.mat": sample}, "s.mat", lambda folder: sample_of_authors(folder / "s.mat")),
        "weights pth": Target({"w.pth": pickled_state()}, "w.pth", lambda folder: read_state(folder / "w.pth")),
        "weights safetensors": Target(
            {"w.safetensors": save(state_dict())}, "w.safetensors", lambda folder: read_state(folder / "w.safetensors")
        ),
        "weights caffe": Target(
            {"w.caffemodel": caffe_weights()},
            "w.caffemodel",
            lambda folder: convert_caffemodel(folder / "w.caffemodel", folder / "made", hidden=2, classes=3),
        ),
        "glove gz": Target({"v.gz": gzip.compress(glove)}, "v.gz", vectors("v.gz")),
        "glove zip": Target({"v.zip": zipped("v.txt", glove)}, "v.zip", vectors("v.zip", "v.txt")),
        "parses": Target({"parses.parquet": parses()}, "parses.parquet", trees_of),
        **of_analyses(),
    }

"""A VSE training step against its bare matrix products and against PyTorch's LSTM; the share of loading in it.

The captions are synthetic: as long as Flickr8k's (12 words), with as many distinct words (about 440) and shared
beginnings (about 1,320 distinct prefixes for 1,510 words) in a batch of 128. Defaults of config/methods/vse.yaml: LSTM,
1024-d; 4096-d image vectors.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from benchmarks._timing import seconds
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import TOKENS, WORDS
from densevse.config.training import NamedPhase, Recipe, TrainingConfig
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.kernels.recurrent import Prefixes, Recurrent, prefixes
from densevse.methods.interface import Batch, Moment, Shapes
from densevse.methods.vse import VSE
from densevse.models.files import build_method
from densevse.runtime.numerics import set_up
from densevse.training.checkpoints import Checkpoint
from densevse.training.loop import Trainer
from densevse.training.retrieval import Retrieval
from snakeproof import schema
from snakeproof.store import FeatureWriter


class Sizes(NamedTuple):
    """Of the data set, of a batch, and of the method."""

    images: int
    vocabulary: int
    feature: int
    batch: int
    dimension: int
    word_dimension: int
    runs: int


FULL = Sizes(2000, vocabulary=8000, feature=4096, batch=128, dimension=1024, word_dimension=300, runs=9)
TOY = Sizes(6, vocabulary=30, feature=5, batch=4, dimension=6, word_dimension=5, runs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note; the best of alternating runs."""
    set_up(torch.get_num_threads())
    with tempfile.TemporaryDirectory() as folder:
        pairs = made_pairs(Path(folder), sizes)
        generator = np.random.default_rng(1)
        sentences = generator.choice(len(pairs.rows.caption_ids), sizes.batch, replace=False)
        batch = pairs.batch(sentences)
        parameters = {"dimension": sizes.dimension, "word_dimension": sizes.word_dimension, "encoder": "lstm"}
        trainer = made_trainer("vse", parameters, {"whole": sizes.feature}, pairs, Path(folder), sizes)
        method, moment = trainer.task.module, Moment(1, "main", trainer.task.parameters)
        step, loading, products, ours, theirs = best_of(
            sizes.runs,
            lambda: trainer.step(pairs.batch(sentences), moment, 2e-4),
            lambda: pairs.batch(sentences),
            bare_products(method, batch),
            encoding(method, batch),
            packed_encoding(method.sentence, method.words, batch),
        )
    tree = prefixes(batch.sentences["words"].index_on_host(), torch.device("cpu"))
    words = int(batch.sentences["words"].lengths.sum())
    counts = f"{words} words, {sum(tree.sizes)} prefixes, {len(tree.distinct)} distinct words"
    return [
        ("VSE training step / its bare matrix products", "<= 1.5", step / products, note(step, products)),
        (
            "PyTorch's packed LSTM / ours, forward + backward",
            ">= 1.3",
            theirs / ours,
            f"{note(theirs, ours)}; {counts}",
        ),
        ("loading a batch / training step", "<= 0.05", loading / step, note(loading, step)),
    ]


def note(one: float, other: float) -> str:
    return f"{1000 * one:.1f} ms / {1000 * other:.1f} ms"


def best_of(runs: int, *works: Callable[[], object]) -> list[float]:
    """The best of alternating runs, in seconds."""
    times = [[seconds(work) for work in works] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


def bare_products(method: VSE, batch: Batch) -> Callable[[], None]:
    """The products that a step requires, on numbers of the right shapes."""
    image = method.image.weight
    recurrence = products_of_recurrence(
        method.sentence, prefixes(batch.sentences["words"].index_on_host(), torch.device("cpu"))
    )
    count = len(batch.sentences["words"].lengths)
    features, joint = torch.randn(count, image.shape[1]), torch.randn(count, len(image))

    def multiply() -> None:
        with torch.inference_mode():
            recurrence()
            linear(features, image, joint)
            products_of_scores(joint)

    return multiply


def products_of_recurrence(recurrent: Recurrent, tree: Prefixes) -> Callable[[], None]:
    """Those of an LSTM over the prefixes of sentences, and of its gradients."""
    weight, of_input = recurrent.weight_hidden, recurrent.weight_input
    gates, size = weight.shape
    vectors, of_vectors = torch.randn(len(tree.distinct), of_input.shape[1]), torch.randn(len(tree.distinct), gates)
    states, of_gates = torch.randn(sum(tree.sizes), size), torch.randn(sum(tree.sizes), gates)

    def multiply() -> None:
        for count in tree.sizes[1:]:
            states[:count] @ weight.t()
            of_gates[:count] @ weight
        of_gates.t() @ states
        linear(vectors, of_input, of_vectors)
        of_vectors @ of_input

    return multiply


def products_of_scores(joint: Tensor) -> None:
    """Those of all pairs' scores, and of their gradients."""
    scores = joint @ joint.t()
    for _ in range(2):
        joint @ joint.t()
    scores @ joint


def linear(inputs: Tensor, weight: Tensor, gradient: Tensor) -> None:
    """A linear map and the gradient of its weight."""
    inputs @ weight.t()
    gradient.t() @ inputs


def encoding(method: VSE, batch: Batch) -> Callable[[], None]:
    """Words to the sentences' last states and back, by densevse."""

    def encode() -> None:
        method.zero_grad()
        tree = prefixes(batch.sentences["words"].index_on_host(), torch.device("cpu"))
        method.sentence(method.words(tree.distinct), tree).sum().backward()

    return encode


def packed_encoding(encoder: Recurrent, words: nn.Embedding, batch: Batch) -> Callable[[], None]:
    """The same by nn.LSTM, with the same routing of products."""
    size = encoder.weight_hidden.shape[1]
    layer, table = nn.LSTM(words.embedding_dim, size), nn.Embedding(*words.weight.shape, padding_idx=0)
    packed = pack_padded_sequence(
        batch.sentences["words"].index, batch.sentences["words"].lengths, batch_first=True, enforce_sorted=False
    )

    def encode() -> None:
        layer.zero_grad()
        table.zero_grad()
        vectors = PackedSequence(table(packed.data), packed.batch_sizes)
        layer(vectors)[1][0].sum().backward()

    return encode


def made_trainer(
    name: str, parameters: dict[str, Any], features: dict[str, int], pairs: Pairs, folder: Path, sizes: Sizes
) -> Trainer:
    torch.manual_seed(0)
    method = build_method(name, parameters, Shapes(features, sizes.vocabulary + 2))
    phases = [NamedPhase(name="main", epochs=1, learning_rate=2e-4)]
    recipe = Recipe(training=TrainingConfig(batch_size=sizes.batch, grad_clip=2.0), phases=phases, seed=0)
    return Trainer(Retrieval(method, pairs, pairs), recipe, Checkpoint(folder / "model", "0" * 64))


def made_captions(count: int, vocabulary: int, generator: np.random.Generator) -> list[str]:
    """Words by Zipf's law; a first word is one of a few, as a third of captions begin with "a man" or "a dog"."""
    share = np.arange(1, vocabulary + 1) ** -1.15
    words = generator.choice(vocabulary, (count, 40), p=share / share.sum())
    words[:, 0] = generator.choice(4, count, p=[0.6, 0.2, 0.1, 0.1])
    lengths = generator.normal(11.8, 3.8, count).round().clip(3, 38).astype(int)
    return [" ".join(f"w{word}" for word in row[:length]) for row, length in zip(words, lengths, strict=True)]


def made_pairs(folder: Path, sizes: Sizes) -> Pairs:
    """Images with random vectors and made captions, five each, as files."""
    generator = np.random.default_rng(0)
    ids = [f"image{i}" for i in range(sizes.images)]
    images = pd.DataFrame({"image_id": ids, "source": "", "file": ids, "split": "train", "width": 1, "height": 1})
    images = images.assign(sha256="", family=images["image_id"], captions=5, status="ok")
    captions = images.loc[images.index.repeat(5), ["image_id", "split"]].reset_index(drop=True)
    captions = captions.assign(
        position=captions.index % 5, text=made_captions(len(captions), sizes.vocabulary, generator)
    )
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    words = [f"w{i}" for i in range(sizes.vocabulary)]
    vocabulary = pd.DataFrame({"index": range(2, sizes.vocabulary + 2), "word": words, "count": 1})
    tokens = captions[["caption_id", "image_id", "split"]].assign(tokens=captions["text"].str.split())
    tables = {
        "image_table": (images, IMAGES),
        "caption_table": (captions, CAPTIONS),
        "tokens": (tokens, TOKENS),
    }
    for name, (rows, kind) in {**tables, "words": (vocabulary, WORDS)}.items():
        schema.write(rows, kind, folder / f"{name}.parquet")
    with FeatureWriter(folder / "whole.parquet", IMAGE_FEATURES, (sizes.feature,), np.float16) as file:
        file.append(images[["image_id"]], generator.random((sizes.images, sizes.feature), np.float32))
    names = ("image_table", "caption_table", "tokens", "words")
    named = {name: str(folder / f"{name}.parquet") for name in names}
    return Inputs(Files({**named, "view_whole": [str(folder / "whole.parquet")]}), ["words"]).pairs("train")

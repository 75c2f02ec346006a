"""A plain image-sentence model without the project's methods, batches and training: what VSE must not be below.

A GRU over learned word vectors and a linear map of the CNN's vector; a margin ranking loss over the other sentences and
images of a batch; dropout of both inputs; Adam whose learning rate falls to a fifth for the last epochs. It reads the
project's artifacts, so that it is given the same features, words and splits:

    python -m examples.minimal_vse results/flickr8k mobilenet_v2 --loss hardest --seeds 0 1 2

prints its recalls, means over the seeds, and, with --against results/flickr8k/retrieval/full/vse/seed*/round0.parquet,
what that variant gains on it, with the paired interval. Ranks stay in the folder `plain` of that folder, so that a seed
is trained once.
"""

import argparse
import copy
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.artifacts.schemas.vocabulary import WORDS
from densevse.artifacts.store import FeatureStore
from densevse.evaluation.protocols import full, select_split
from densevse.evaluation.recall import figures_of
from densevse.evaluation.retrieval import retrieve
from densevse.statistics.intervals import Bootstrap
from densevse.tables.rows import queries_of

EPOCHS, WARM_UP, BATCH, MARGIN, DROPOUT, DIMENSION, WORD = 16, 2, 128, 0.2, 0.2, 512, 300


class Plain(nn.Module):
    """Images (n, D) and padded sentences (n, longest) into one space."""

    def __init__(self, values: int, words: int) -> None:
        super().__init__()
        self.image, self.words = nn.Linear(values, DIMENSION), nn.Embedding(words, WORD, padding_idx=0)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        self.gru, self.dropout = nn.GRU(WORD, DIMENSION, batch_first=True), nn.Dropout(DROPOUT)

    def images(self, vectors: Tensor) -> Tensor:
        return normalize(self.image(self.dropout(vectors)), dim=1)

    def sentences(self, words: Tensor) -> Tensor:
        lengths = (words > 0).sum(dim=1)
        packed = pack_padded_sequence(self.dropout(self.words(words)), lengths, batch_first=True, enforce_sorted=False)
        return normalize(self.gru(packed)[1][0], dim=1)


class Split:
    """A split's images, its sentences as padded numbers of words, and which image each belongs to."""

    def __init__(self, folder: str, network: str, name: str, numbers: dict[str, int]) -> None:
        images, captions = (
            schema.read(f"{folder}/images.parquet", IMAGES),
            schema.read(f"{folder}/captions.parquet", CAPTIONS),
        )
        self.rows = select_split(images, captions, name)
        store = FeatureStore(sorted(Path(folder, "features", network, "whole").glob("*-of-*.parquet")), IMAGE_FEATURES)
        places = pd.Index(store.rows["image_id"]).get_indexer(pd.Index(self.rows.image_ids))
        self.vectors = torch.from_numpy(np.asarray(store.gather(places), np.float32))
        tokens = schema.read(f"{folder}/tokens.parquet", TOKENS).set_index("caption_id")["tokens"]
        sentences = [[numbers.get(word, 1) for word in tokens[caption]] for caption in self.rows.caption_ids]
        self.words = pad_sequence([torch.tensor(sentence or [1]) for sentence in sentences], batch_first=True)
        self.image = torch.from_numpy(np.asarray(self.rows.image_of_caption))


def train(model: Plain, train: Split, val: Split, loss: str) -> None:
    """All epochs; the weights with the best Sum on val stay."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    best, kept = -1.0, copy.deepcopy(model.state_dict())
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = 5e-4 if epoch < 0.7 * EPOCHS else 1e-4
        model.train()
        for chosen in torch.randperm(len(train.image)).split(BATCH):
            image = train.image[chosen]
            words = train.words[chosen]
            scores = model.images(train.vectors[image]) @ model.sentences(words[:, : int((words > 0).sum(1).max())]).T
            hinge = hinges(scores, image[:, None] == image)
            hardest = loss == "hardest" and epoch >= WARM_UP
            total = sum(part.amax(dim=1).sum() if hardest else part.sum() for part in hinge)
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
        found = figures_of(ranked(model, val))["sum"]
        print(f"epoch {epoch + 1}: Sum on val {found:.1f}", flush=True)
        if found > best:
            best, kept = found, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)


def hinges(scores: Tensor, same: Tensor) -> tuple[Tensor, Tensor]:
    """What each wrong sentence of an image, and each wrong image of a sentence, lacks of the margin."""
    right = scores.diag()
    return tuple((MARGIN + s - right[:, None]).clamp(min=0).masked_fill(same, 0) for s in (scores, scores.T))


@torch.no_grad()
def ranked(model: Plain, split: Split) -> pd.DataFrame:
    """The rank of each query of a split."""
    model.eval()
    scores = model.images(split.vectors) @ model.sentences(split.words).T
    return retrieve(lambda i, j: lambda a, b: scores[a, b], split.rows, full(split.rows))


def trained(seed: int, splits: dict[str, Split], words: int, loss: str, path: Path) -> pd.DataFrame:
    """The ranks of the test split's queries by a model trained with this seed; those at `path`, where it was before."""
    if not path.exists():
        torch.manual_seed(seed)
        model = Plain(splits["train"].vectors.shape[1], words)
        train(model, splits["train"], splits["val"], loss)
        schema.write(ranked(model, splits["test"]), RETRIEVAL, path, {"plain": loss, "seed": seed})
    return schema.read(path, RETRIEVAL)


def main() -> None:
    """Train one model per seed, and print what they find in the test split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("network")
    parser.add_argument("--loss", choices=["sum", "hardest"], default="sum")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--against", nargs="*", default=[], help="RETRIEVAL artifacts of one variant, one per seed")
    asked = parser.parse_args()
    vocabulary = schema.read(f"{asked.folder}/vocabulary/words.parquet", WORDS)
    numbers = dict(zip(vocabulary["word"], vocabulary["index"], strict=True))
    splits = {name: Split(asked.folder, asked.network, name, numbers) for name in ("train", "val", "test")}
    plain, size = Path(asked.folder, "plain", asked.network, asked.loss), 2 + len(numbers)
    own = [trained(seed, splits, size, asked.loss, plain / f"seed{seed}.parquet") for seed in asked.seeds]
    print(pd.DataFrame([figures_of(ranks) for ranks in own]).mean().round(1).to_dict())
    if asked.against:
        bootstrap = Bootstrap(*queries_of(splits["test"].rows, full(splits["test"].rows)))
        theirs = bootstrap.replicates([schema.read(path, RETRIEVAL) for path in asked.against])
        gain = bootstrap.difference("sum", theirs, bootstrap.replicates(own))
        print(f"they gain {gain.low:+.1f} to {gain.high:+.1f} of Sum on this model (95%, paired)")


if __name__ == "__main__":
    main()

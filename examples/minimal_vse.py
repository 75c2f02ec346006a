"""VSE and VSE++ on one page: data, model, loss, training, evaluation. It only needs torch, NumPy and pandas.

It reads the workflow's features, words and splits of a data set, trains a model for each seed, and prints recalls on
the test split, means over seeds. It writes ranks to <folder>/plain.

    python examples/minimal_vse.py results/scenes scenes_net --loss hardest --seeds 0 1 2
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

EPOCHS, WARM_UP, BATCH, MARGIN, DROPOUT, DIMENSION, WORD = 16, 2, 128, 0.2, 0.2, 512, 300
UNKNOWN = 1  # the number of the unknown word, for words that training sentences lack; 0 is padding


class Split:
    """A split's I images and S sentences, in the order of their images."""

    def __init__(self, folder: Path, network: str, name: str, numbers: dict[str, int]) -> None:
        images = pd.read_parquet(folder / "images.parquet")
        images = images[(images["split"] == name) & (images["status"] == "ok")]
        row = pd.Series(range(len(images)), index=images["image_id"])
        shards = sorted((folder / "features" / network / "whole").glob("*-of-*.parquet"))
        vectors = pd.concat(map(pd.read_parquet, shards)).set_index("image_id")["vector"]
        self.vectors = torch.from_numpy(np.stack(vectors[row.index]).astype(np.float32))  # (I, D)
        captions = pd.read_parquet(folder / "captions.parquet").join(row.rename("row"), on="image_id", how="inner")
        captions = captions.sort_values(["row", "position"], kind="stable")
        tokens = pd.read_parquet(folder / "tokens.parquet").set_index("caption_id")["tokens"]
        words = [[numbers.get(word, UNKNOWN) for word in tokens[caption]] for caption in captions["caption_id"]]
        self.words = pad_sequence([torch.tensor(sentence or [UNKNOWN]) for sentence in words], batch_first=True)
        self.image = torch.tensor(captions["row"].tolist())  # (S,) the image of each sentence
        self.ids = images["image_id"].to_numpy(), captions["caption_id"].to_numpy()


class MinimalVSE(nn.Module):
    """Maps an image's CNN vector linearly, and a sentence's words by a GRU, into one space, with unit norm."""

    def __init__(self, values: int, words: int) -> None:
        super().__init__()
        self.image, self.words = nn.Linear(values, DIMENSION), nn.Embedding(words, WORD, padding_idx=0)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        self.gru, self.dropout = nn.GRU(WORD, DIMENSION, batch_first=True), nn.Dropout(DROPOUT)

    def images(self, vectors: Tensor) -> Tensor:
        """(I, DIMENSION) of CNN vectors (I, D)."""
        return normalize(self.image(self.dropout(vectors)), dim=1)

    def sentences(self, words: Tensor) -> Tensor:
        """(S, DIMENSION) of word numbers (S, longest), padded with 0."""
        lengths = (words > 0).sum(dim=1)
        packed = pack_padded_sequence(self.dropout(self.words(words)), lengths, batch_first=True, enforce_sorted=False)
        return normalize(self.gru(packed)[1][0], dim=1)


def hinges(scores: Tensor, same: Tensor) -> list[Tensor]:
    """The hinge of each wrong sentence of an image, and of each wrong image of a sentence, (B, B) each."""
    return [(MARGIN + found - scores.diag()[:, None]).clamp(min=0).masked_fill(same, 0) for found in (scores, scores.T)]


def train(model: MinimalVSE, train: Split, val: Split, loss: str) -> None:
    """Trains all epochs, and keeps the weights with the best rsum on val."""
    optimizer = torch.optim.Adam(model.parameters())
    best, kept = -1.0, copy.deepcopy(model.state_dict())
    for epoch in range(EPOCHS):
        optimizer.param_groups[0]["lr"] = 5e-4 if epoch < 0.7 * EPOCHS else 1e-4
        model.train()
        for chosen in torch.randperm(len(train.image)).split(BATCH):
            image, words = train.image[chosen], train.words[chosen]
            scores = model.images(train.vectors[image]) @ model.sentences(words[:, : int((words > 0).sum(1).max())]).T
            hardest = loss == "hardest" and epoch >= WARM_UP
            lacking = hinges(scores, image[:, None] == image)  # a batch may hold an image twice
            total = sum(part.amax(dim=1).sum() if hardest else part.sum() for part in lacking)
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
        found = recalls(ranked(model, val))["rsum"]
        print(f"epoch {epoch + 1}: rsum on val {found:.1f}", flush=True)
        if found > best:
            best, kept = found, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)


@torch.no_grad()
def ranked(model: MinimalVSE, split: Split) -> pd.DataFrame:
    """The rank, from 1, of each query's first true answer; a tie counts against the query."""
    model.eval()
    scores = model.images(split.vectors) @ model.sentences(split.words).T  # (I, S)
    true = torch.arange(len(scores))[:, None] == split.image
    best = scores.masked_fill(~true, -torch.inf).amax(dim=1, keepdim=True)
    i2t = 1 + ((scores >= best) & ~true).sum(dim=1)  # an image asks for sentences
    t2i = (scores >= scores[split.image, torch.arange(len(split.image))]).sum(dim=0)  # a sentence asks for images
    asks = true.any(dim=1)
    parts = ("i2t", split.ids[0][asks.numpy()], i2t[asks]), ("t2i", split.ids[1], t2i)
    return pd.concat([pd.DataFrame({"fold": 0, "direction": d, "query_id": i, "rank": r}) for d, i, r in parts])


def recalls(ranks: pd.DataFrame) -> dict[str, float]:
    """R@1, R@5 and R@10 of both directions in percent, and their sum."""
    by_direction = ranks.groupby("direction")["rank"]
    found = {f"{d}_r{k}": 100 * (of_queries <= k).mean() for d, of_queries in by_direction for k in (1, 5, 10)}
    return {**found, "rsum": sum(found.values())}


def main() -> None:
    """Trains a model for each seed, unless its ranks exist, and prints the results on the test split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a data set's, such as results/scenes")
    parser.add_argument("network", help="of its features of whole images, such as scenes_net")
    parser.add_argument("--loss", choices=["sum", "hardest"], default="sum", help="of VSE, or of VSE++")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    asked = parser.parse_args()
    vocabulary = pd.read_parquet(asked.folder / "vocabulary/words.parquet").set_index("word")["index"].to_dict()
    splits = {name: Split(asked.folder, asked.network, name, vocabulary) for name in ("train", "val", "test")}
    ranks = asked.folder / "plain" / asked.network / asked.loss
    ranks.mkdir(parents=True, exist_ok=True)
    paths = {seed: ranks / f"seed{seed}.parquet" for seed in asked.seeds}
    for seed, path in paths.items():
        if not path.exists():  # a seed is trained once
            torch.manual_seed(seed)
            model = MinimalVSE(splits["train"].vectors.shape[1], 2 + len(vocabulary))
            train(model, splits["train"], splits["val"], asked.loss)
            part = path.with_suffix(".part")  # renamed when it is whole
            ranked(model, splits["test"]).to_parquet(part)
            part.rename(path)
    print(pd.DataFrame([recalls(pd.read_parquet(path)) for path in paths.values()]).mean().round(1).to_dict())


if __name__ == "__main__":
    main()

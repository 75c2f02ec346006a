"""Where an HM-LSTM puts a split's images, regions, sentences and phrases in the common space."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX
from densevse.logs import progress
from densevse.methods.hm_lstm import HMLSTM, WHOLE_IMAGE
from densevse.methods.interface import to_device
from densevse.training.correspondences import IMAGES_AT_ONCE, embed_phrases, embed_regions, forest_of, words_of
from densevse.training.data import Inputs, Pairs
from densevse.training.encode import evaluation
from densevse.training.ragged import Indices


@dataclass(frozen=True)
class Embedded:
    """Rows and the vector of each.

    `rows` has kind (image, region, sentence, phrase), image_id, text (of sentences and phrases), caption_id, start, end
    and the box (of images and regions); `vectors` is (rows, dimension) of unit norm.
    """

    rows: pd.DataFrame
    vectors: NDArray[np.float32]

    def of_kind(self, *kinds: str) -> "Embedded":
        """Only the rows of some kinds."""
        return self.where(self.rows["kind"].isin(kinds).to_numpy())

    def where(self, kept: NDArray[np.bool_]) -> "Embedded":
        """Only some rows."""
        return Embedded(self.rows[kept].reset_index(drop=True), self.vectors[kept])


def embed(method: HMLSTM, inputs: Inputs, split: str) -> Embedded:
    """Embed all images, regions, sentences and noun phrases of a split."""
    pairs = inputs.pairs(split)
    count = len(pairs.rows.image_ids)
    batches = [np.arange(first, min(first + IMAGES_AT_ONCE, count)) for first in range(0, count, IMAGES_AT_ONCE)]
    with evaluation(method):
        parts = [
            part
            for images in progress(batches, f"{split} embeddings")
            for part in (_of_images(method, pairs, images), _of_sentences(method, pairs, images))
        ]
    rows = pd.concat([part.rows for part in parts], ignore_index=True)
    return Embedded(_described(rows, inputs), np.concatenate([part.vectors for part in parts]))


def _of_images(method: HMLSTM, pairs: Pairs, images: Indices) -> Embedded:
    batch = to_device(pairs.images(images), next(method.parameters()).device)
    image, rank = batch.present.nonzero(as_tuple=True)
    vectors = embed_regions(method, batch)[image, rank]
    kind = np.where(rank.cpu().numpy() == WHOLE_IMAGE, "image", "region")
    image_id = pairs.rows.image_ids[images[image.cpu().numpy()]]
    rows = pd.DataFrame({"kind": kind, "image_id": image_id, "rank": rank.cpu().numpy()})
    return Embedded(rows.assign(caption_id="", start=-1, end=-1), vectors.cpu().numpy())


def _of_sentences(method: HMLSTM, pairs: Pairs, images: Indices) -> Embedded:
    first, last = np.searchsorted(pairs.rows.image_of_caption, [images[0], images[-1] + 1])
    sentences = np.arange(first, last)
    phrases = embed_phrases(method, pairs, sentences)
    (roots,) = method.encode_sentences(to_device(pairs.sentences(sentences), phrases.h.device))
    sentence = np.concatenate((sentences, phrases.sentence))
    tokens = forest_of(pairs).end[forest_of(pairs).nodes.first[sentences + 1] - 1]
    rows = pd.DataFrame(
        {
            "kind": np.repeat(["sentence", "phrase"], [len(sentences), len(phrases.sentence)]),
            "image_id": pairs.rows.image_ids[pairs.rows.image_of_caption[sentence]],
            "rank": -1,
            "caption_id": pairs.rows.caption_ids[sentence],
            "start": np.concatenate((np.zeros_like(sentences), phrases.start)),
            "end": np.concatenate((tokens, phrases.end)),
        }
    )
    return Embedded(rows, np.concatenate((roots.cpu().numpy(), phrases.h.cpu().numpy())))


def _described(rows: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    """`rows` with the words of sentences and phrases and the boxes of images and regions."""
    rows = rows.merge(inputs.stores["regions"].rows[["image_id", "rank", *BOX]], on=["image_id", "rank"], how="left")
    return rows.assign(text=words_of(rows, inputs))

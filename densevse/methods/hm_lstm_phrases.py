"""HM-LSTM that ranks by phrases and regions too (ours). The paper's score reads the whole sentence and image alone.

With v_0 and h_0 of whole image and sentence, regions v_i of the image k and noun phrases h_j of the sentence l:

    S_kl = v_0 . h_0 + lambda / |g_l| sum_{j in g_l} max_{i in g_k} v_i . h_j

A sentence without noun phrases has the first term alone. In a control without phrases, g_l holds the sentence alone.
The regions are those that HM-LSTM may assign to a phrase (`candidates`). The loss is HM-LSTM's. So a model that starts
from a trained HM-LSTM and learns no more shows what the phrases of that model know beside its whole sentences.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.fragment_sums import sums_of_all_pairs
from densevse.methods.fragments import Fragments, pad_rows
from densevse.methods.hm_lstm import HMLSTM, PlannedTrees
from densevse.methods.interface import WHOLE_IMAGE, Batch, Encoding, Images, Method, Moment, Sentences, Shapes
from densevse.methods.parameters.hm_lstm_phrases import Parameters


class PhrasesOfSentences(NamedTuple):
    """S sentences, each with at most P noun phrases."""

    whole: Tensor  # (S, dimension) h of whole sentences
    phrases: Tensor  # (S, P, dimension) h of phrases, zero where there is none
    present: Tensor  # (S, P) bool: which phrases exist


class HMLSTMWithPhrases(Method):
    """An HM-LSTM whose score adds the best region of each noun phrase. Images are fragments, the whole image first."""

    images_as = Fragments
    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` as `HMLSTM` does."""
        super().__init__(parameters, shapes)
        self.hm_lstm = HMLSTM(parameters, shapes)

    def encode_images(self, images: Images) -> Fragments:
        """The v of every region, Eq 1."""
        present = images.present
        vectors = self.hm_lstm.embed_regions(images.views["regions"].flatten(0, 1)).view(*present.shape, -1)
        return Fragments(vectors * present.unsqueeze(2), present)

    def encode_sentences(self, sentences: Sentences) -> PhrasesOfSentences:
        """The h of whole sentences and of their noun phrases."""
        whole = self.hm_lstm.encode_sentences(sentences).vectors
        if self.hyperparameters.scored == "sentence":
            return PhrasesOfSentences(whole, whole[:, None], torch.ones_like(whole[:, :1], dtype=torch.bool))
        found = self.hm_lstm.embed_phrases(sentences)
        counts = np.bincount(found.sentence.numpy(), minlength=len(whole))
        return PhrasesOfSentences(whole, *pad_rows(found.vectors, counts))

    def score(self, images: Fragments, sentences: PhrasesOfSentences) -> Tensor:
        """(I, S) S_kl."""
        whole = images.vectors[:, WHOLE_IMAGE] @ sentences.whole.T
        candidates = self.hm_lstm.candidates(images.present)
        sums = sums_of_all_pairs(images.vectors, candidates, sentences.phrases, sentences.present, best_region=True)
        return whole + self.hyperparameters.phrases_in_score * sums / sentences.present.sum(dim=1).clamp(min=1)

    def plan(self, sentences: Sentences) -> PlannedTrees:
        """The plan of HM-LSTM."""
        return self.hm_lstm.plan(sentences)

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The encodings of HM-LSTM's loss."""
        return self.hm_lstm.encode_batch(batch)

    def loss(self, images: Any, sentences: Any, batch: Batch, moment: Moment) -> Tensor:
        """HM-LSTM's Eq 10, of the encodings of `encode_batch`: a scalar."""
        return self.hm_lstm.loss(images, sentences, batch, moment)

    def start_from(self, method: str, weights: Mapping[str, Tensor]) -> None:
        """Takes over all weights of a trained HM-LSTM.

        Raises `ValueError` for a model of another method, or of an HM-LSTM of other sizes.
        """
        if method != "hm_lstm":
            super().start_from(method, weights)
        try:
            self.hm_lstm.load_state_dict(dict(weights))
        except RuntimeError as error:
            raise ValueError(str(error)) from error


METHOD = HMLSTMWithPhrases

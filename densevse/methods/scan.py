"""SCAN: stacked cross attention (Lee, Chen, Hua, Hu, He, ECCV 2018).

Regions v_i = W_v f_i + b_v of an image and words e_j of a sentence, the mean of both directions of a GRU, are of unit
norm. In i-t each region attends to the words, and in t-i each word to the regions. Here i-t, numbered for this file:

    s_ij = v_i . e_j,  s'_ij = [s_ij]_+ / sqrt(sum_i [s_ij]_+^2)                                               (1)
    a_i = sum_j alpha_ij e_j,  alpha_ij = softmax_j(lambda_1 s'_ij)                                        (2), (3)
    R(v_i, a_i) = cos(v_i, a_i)                                                                                (4)
    S_LSE = log(sum_i exp(lambda_2 R(v_i, a_i))) / lambda_2                                                    (5)
    S_AVG = sum_i R(v_i, a_i) / k                                                                              (6)

In t-i, regions and words exchange their roles. [.]_+ is LeakyReLU in the authors' code, and here unless
`negative_slope` is 0. Training keeps matching pairs a margin above the hardest negatives of the batch:

    l = [alpha - S(I, T) + S(I, T_h)]_+ + [alpha - S(I, T) + S(I_h, T)]_+                                      (7)
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.bidirectional import Bidirectional, Turned, plan_backward
from densevse.kernels.cross_attention import AttentionSide, CrossAttention, cross_attention_scores, weights_of_pairs
from densevse.kernels.recurrent import Prefixes, prefixes
from densevse.methods.fragments import Fragments
from densevse.methods.interface import (
    WHOLE_IMAGE,
    Batch,
    Images,
    Method,
    Moment,
    Saliency,
    Sentences,
    Shapes,
    module_device,
)
from densevse.methods.parameters.scan import Parameters
from densevse.methods.parts import RankingLoss, word_vectors, xavier_linear
from densevse.methods.structures import Words


class SCAN(Method):
    """Stacked cross attention. Encodings are regions (or cells) and words, of unit norm."""

    images_as = Fragments

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if the views are not regions or a grid alone."""
        super().__init__(parameters, shapes)
        if set(shapes.features) not in ({"regions"}, {"grid"}):
            raise ValueError(f"scan reads the view regions or the view grid, not {sorted(shapes.features)}")
        self.view: Literal["grid", "regions"] = "grid" if "grid" in shapes.features else "regions"
        self.image = xavier_linear(shapes.features[self.view], parameters.dimension)
        self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.sentence = Bidirectional("gru", self.words.embedding_dim, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = RankingLoss(parameters.negatives, parameters.temperature)

    def encode_images(self, images: Images) -> Fragments:
        """(I, R, dimension) v of the regions, or of the cells of a grid."""
        features = images.views[self.view]
        if self.view == "grid":
            present = torch.ones_like(features[:, :, 0], dtype=torch.bool)
        else:
            present = images.present if self.hyperparameters.whole_image else _detections(images.present)
        vectors = functional.normalize(self.image(self.dropout(features)), dim=2)
        return Fragments(vectors * present.unsqueeze(2), present)

    def plan(self, sentences: Sentences) -> tuple[Prefixes, Turned]:
        """The order in which both directions of the GRU read the sentences."""
        words, device = sentences["words"].index_on_host(), module_device(self)
        return prefixes(words, device), plan_backward(words, device)

    def encode_sentences(self, sentences: Sentences) -> Fragments:
        """(S, longest, dimension) e of the words."""
        words: Words = sentences["words"]
        tree, backwards_too = self.device_plan(sentences)
        vectors = self.dropout(self.words(tree.distinct))
        forwards, backwards = self.sentence(vectors, tree, backwards_too).chunk(2, dim=2)
        return Fragments(functional.normalize((forwards + backwards) / 2, dim=2), words.index != 0)

    def score(self, images: Fragments, sentences: Fragments) -> Tensor:
        """(I, S) S_LSE or S_AVG."""
        return cross_attention_scores(
            AttentionSide(*images), AttentionSide(*sentences), attention_settings(self.hyperparameters)
        )

    def loss(self, images: Fragments, sentences: Fragments, batch: Batch, moment: Moment) -> Tensor:
        """The triplet loss of Eq 7, or another one that `negatives` names, summed over the batch: a scalar."""
        parameters: Parameters = moment.parameters
        scores = cross_attention_scores(
            AttentionSide(*images), AttentionSide(*sentences), attention_settings(parameters)
        )
        return self.ranking(scores, batch.positives, parameters)  # type: ignore[no-any-return]

    def saliency(self, images: Fragments, sentences: Fragments, image: Tensor, sentence: Tensor) -> Saliency:
        """The alpha of pairs given by their rows, (P,) each. A step is a word (t-i), or a region or cell (i-t)."""
        sides = (
            AttentionSide(*(part[rows] for part in side)) for side, rows in ((images, image), (sentences, sentence))
        )
        regions, words = sides
        attention = attention_settings(self.hyperparameters)
        weights = weights_of_pairs(regions, words, attention).transpose(0, 1)
        queries = words.present if attention.direction == "t2i" else regions.present
        themselves = torch.diag_embed(queries.to(weights.dtype)).transpose(0, 1)
        places, of_words = (weights, themselves) if attention.direction == "t2i" else (themselves, weights)
        return Saliency(self.view, places, of_words)


def attention_settings(parameters: Parameters) -> CrossAttention:
    """The direction of attention and its settings, from the parameters."""
    return CrossAttention(
        parameters.direction,
        parameters.raw_feature_norm,
        parameters.negative_slope,
        parameters.lambda_softmax,
        parameters.pooling,
        parameters.lambda_lse,
    )


def _detections(present: Tensor) -> Tensor:
    """(I, R) bool: the regions without the whole image, or the whole image if there are no others."""
    others = present.clone()
    others[:, WHOLE_IMAGE] = ~present[:, WHOLE_IMAGE + 1 :].any(dim=1)
    return others


METHOD = SCAN

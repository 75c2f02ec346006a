"""SCO: semantic concepts and order (Huang, Wu, Song, Wang, CVPR 2018).

    p_hat = norm(W_l p),  x_hat = norm(W_g x),  t = sigmoid(U_l p + U_g x),  v = t * p_hat + (1 - t) * x_hat     (2)
    L_mat = sum_ik max(0, m - s_ii + s_ik) + max(0, m - s_ii + s_ki)
    L = L_mat + lambda L_gen                                                                                     (4)

An image is its global context x (a CNN's vector) and the scores p of its semantic concepts, joined by a gate; a
sentence is the last hidden state of an LSTM. Training matches the two. It also generates the matched sentence from the
image's vector, so that this learns the semantic order. Ranking generates nothing.

Eq 1 belongs to the concept network, which predicts p and is fixed here; Eq 3 and L_gen are those of the decoder
(densevse/methods/decoder.py). s is the cosine. As chosen here: W_l, W_g, U_l, U_g have no bias as printed; the gate of
Eq 2 is given the normalised x and the scores p as they are. Also ours: a control, in which p is the mean vector of the
regions that the concepts' scores are read from, normalised as x is.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.recurrent import Prefixes, Recurrent, Teaching, prefixes
from densevse.methods.decoder import Decoder
from densevse.methods.interface import (
    Batch,
    DualEncoder,
    Embeddings,
    Encoding,
    Images,
    Moment,
    Sentences,
    Shapes,
    module_device,
)
from densevse.methods.moving import to_device
from densevse.methods.parameters.sco import Parameters
from densevse.methods.parts import WHOLE_VIEWS, RankingLoss, mean_of_regions, word_vectors, xavier_linear
from densevse.methods.structures import Words

_REGIONS = "regions"
_CONCEPTS = ("concepts", "concepts_whole", _REGIONS)
_GENERATED = "generated_captions"


class FusedImages(NamedTuple):
    """The encoded images of a training batch."""

    vectors: Tensor  # (I, dimension) v of unit norm, for matching
    fused: Tensor  # (I, dimension) v itself, for generating sentences


class PlannedWords(NamedTuple):
    """The order in which a batch of sentences is read."""

    tree: Prefixes
    taught: Teaching | None  # by the decoder, if there is one


class SCO(DualEncoder):
    """Semantic concepts and order. Encodings are of unit norm."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless the views are a context, concepts (or regions), both, or a generated sentence."""
        super().__init__(parameters, shapes)
        self.context, self.concepts = _view(shapes, WHOLE_VIEWS), _view(shapes, _CONCEPTS)
        if ({self.context, self.concepts} - {None} or {_GENERATED}) != set(shapes.features):
            raise ValueError(
                f"`views` holds {sorted(shapes.features)}: expected one of {', '.join(WHOLE_VIEWS)}, one of "
                f"{', '.join(_CONCEPTS)}, one of each, or {_GENERATED} alone"
            )
        sizes = [shapes.features[view] if view else None for view in (self.context, self.concepts)]
        self.image = Fusion(parameters, *sizes) if any(sizes) else WrittenSentence(parameters, shapes)
        self.words = word_vectors("learned", parameters.word_dimension, shapes)
        self.sentence = Recurrent("lstm", parameters.word_dimension, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = RankingLoss(parameters.negatives, parameters.temperature)
        self.decoder = _decoder(parameters, shapes, self.words) if parameters.generation_weight else None

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) v of Eq 2, of unit norm, for the cosine of section 3.4."""
        return Embeddings(functional.normalize(self._fused_vectors(images), dim=1))

    def plan(self, sentences: Sentences) -> PlannedWords:
        """The order in which the LSTM and the decoder read the sentences."""
        words = self._words(sentences)
        taught = self.decoder.plan(words) if self.decoder else None
        return PlannedWords(prefixes(words.index_on_host(), module_device(self)), taught)

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) last hidden states of the sentences' LSTM (section 3.1), of unit norm."""
        tree = self.device_plan(sentences).tree
        return Embeddings(functional.normalize(self.sentence(self.dropout(self.words(tree.distinct)), tree), dim=1))

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The encodings of the batch, and for images also v itself, from which sentences are generated."""
        fused = self._fused_vectors(batch.images)
        return FusedImages(functional.normalize(fused, dim=1), fused), self.encode_sentences(batch.sentences)

    def loss(self, images: FusedImages, sentences: Embeddings, batch: Batch, moment: Moment) -> Tensor:
        """L of Eq 4, both parts summed over the batch: a scalar."""
        parameters: Parameters = moment.parameters
        scores = self.score(Embeddings(images.vectors), sentences)
        matching: Tensor = self.ranking(scores, batch.positives, parameters)
        if self.decoder is None:
            return matching
        words, taught = self._words(batch.sentences), self.device_plan(batch.sentences).taught
        generation = self.decoder.negative_log_likelihood(images.fused, words, parameters.sampled, taught)
        return matching + parameters.generation_weight * generation.sum()

    def _fused_vectors(self, images: Images) -> Tensor:
        """(I, dimension) v of Eq 2; with a generated sentence, the last state of the LSTM over it."""
        if isinstance(self.image, WrittenSentence):
            return self.image(images.views[_GENERATED])  # type: ignore[no-any-return]
        context = self.dropout(images.views[self.context]) if self.context else None
        return self.image(context, self._concepts(images))  # type: ignore[no-any-return]

    def _concepts(self, images: Images) -> Tensor | None:
        """(I, K) p of Eq 2; (I, D) the regions' mean vector, of unit norm, in its place; None without either."""
        if self.concepts != _REGIONS:
            return images.views[self.concepts] if self.concepts else None
        return self.dropout(functional.normalize(mean_of_regions(images), dim=1))  # type: ignore[no-any-return]

    def _words(self, sentences: Sentences) -> Words:
        """The words of sentences, cut at the number that the paper reads (section 4.2)."""
        words: Words = sentences["words"]
        return words.cut(self.hyperparameters.longest_sentence)


class Fusion(nn.Module):
    """Eq 2: an image's representation v from its global context x, the scores p of its concepts, or both."""

    def __init__(self, parameters: Parameters, context: int | None, concepts: int | None) -> None:
        """`context` and `concepts` are the sizes of x and p; None for one that is not read."""
        super().__init__()
        self.gated = parameters.fusion == "gate" and bool(context and concepts)
        if context:
            self.w_g = _matrix(context, parameters.dimension)
        if concepts:
            self.w_l = _matrix(concepts, parameters.dimension)
        if context and concepts and self.gated:
            self.u_g, self.u_l = _matrix(context, parameters.dimension), _matrix(concepts, parameters.dimension)

    def forward(self, context: Tensor | None, concepts: Tensor | None) -> Tensor:
        """(I, dimension) v of (I, D) context vectors and (I, K) concept scores."""
        if context is None:
            return functional.normalize(self.w_l(concepts), dim=1)
        x = functional.normalize(context, dim=1)  # "the normalized context vector"
        x_hat = functional.normalize(self.w_g(x), dim=1)
        if concepts is None:
            return x_hat
        p_hat = functional.normalize(self.w_l(concepts), dim=1)
        if not self.gated:
            return p_hat + x_hat
        t = torch.sigmoid(self.u_l(concepts) + self.u_g(x))
        return t * p_hat + (1 - t) * x_hat


class WrittenSentence(nn.Module):
    """The image branch of "ctx + sen" (Table 1): the last state of an LSTM over a generated sentence.

    A captioner wrote the sentence about the image beforehand. This LSTM and its word vectors are separate from those of
    captions.
    """

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        super().__init__()
        self.words = word_vectors("learned", parameters.word_dimension, shapes)
        self.sentence = Recurrent("lstm", parameters.word_dimension, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)

    def forward(self, generated: Tensor) -> Tensor:
        """(I, dimension) last states, from the sentences' word numbers (I, longest)."""
        tree = to_device(prefixes(generated.cpu().numpy(), generated.device), generated.device)
        return self.sentence(self.dropout(self.words(tree.distinct)), tree)  # type: ignore[no-any-return]


def _matrix(inputs: int, outputs: int) -> nn.Linear:
    """A matrix of Eq 2, without bias as printed."""
    return xavier_linear(inputs, outputs, bias=False)


def _view(shapes: Shapes, names: tuple[str, ...]) -> str | None:
    """The first of the given views that the data has."""
    return next((name for name in names if name in shapes.features), None)


def _decoder(parameters: Parameters, shapes: Shapes, words: nn.Embedding) -> Decoder:
    """The generating LSTM. It shares the word vectors of the sentences' LSTM in "ctx + gen (E)" only."""
    if parameters.words == "own":
        words = word_vectors("learned", parameters.word_dimension, shapes)
    return Decoder(words, parameters.dimension, parameters.generated_words)


METHOD = SCO

"""sm-LSTM (Huang, Wang, Wang, CVPR 2017): compares salient pairs of image and sentence instances, step by step.

Each of T steps selects a pair of instances by attention, over the cells of the image's feature map and over the
sentence's words (Eq 1-3, `Selection`), and compares them; a multimodal LSTM aggregates these local similarities to the
score of the pair:

    i_t, f_t, o_t = sigmoid(W s_t + U h_t-1 + b) of each gate, with s_t = MLP(a'_t, w'_t)
    c_t = f_t * c_t-1 + i_t * tanh(W s_t + U h_t-1 + b),    h_t = o_t * tanh(c_t)                              (4)
    s = W_hs sigmoid(W_hh h_T + b_h) + b_s                                                                      (5)
    L_mat = sum_ik max(0, m - s_ii + s_ik) + max(0, m - s_ii + s_ki)                                           (6)
    L = L_mat + lambda (sum_i (1 - sum_t p_t,i) + sum_j (1 - sum_t q_t,j))                                     (7)

Choices where the paper is silent:
- The two-way MLP that gives s_t is the product of both instances' projections, each of mean square 1. The option
  `comparison` gives the sigmoid of their sum instead, in the form of the three-way MLP of Eq 2.
- Cells, words' states and contexts are given to the model at mean square 1, whatever network they come from.
- -ctx (section 4.3) compares the two contexts, the same at each step; -mean compares the two means.
- Eq 6 is divided by the number of matched pairs, and Eq 7, squared (as printed it is constant), is a mean over cells,
  over words and over matched pairs, as a mismatched pair has no common instances that attention should cover. So a
  lambda here is that of a sum over cells times their number: the paper's 100 with 196 cells would be 19,600.
- The LSTM of Eq 4 starts from h_0 = c_0 = 0.

Two options are ours. `contexts_in_score` compares [a'_t; m] with [w'_t; n] in s_t, in place of a'_t with w'_t. The head
`cosine_and_mlp` adds the score of VSE (densevse/methods/vse.py) to Eq 5, whose last layer starts at 0, so that a model
that starts from a VSE scores as it does at first:

    s = cos(W m + b, n) + W_hs sigmoid(W_hh h_T + b_h) + b_s
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.bidirectional import Bidirectional, Turned, plan_backward
from densevse.kernels.pairs import Grouped, Pairing, scores_of_all_pairs, scores_of_pairs, select_rows, weighted_sums
from densevse.kernels.recurrent import Prefixes, Recurrent, lstm_cell, prefixes
from densevse.kernels.tanh_sums import exponential, tanh_sums
from densevse.methods.interface import Batch, Images, Method, Moment, Saliency, Sentences, Shapes, module_device
from densevse.methods.parameters.sm_lstm import Parameters
from densevse.methods.parts import RankingLoss, word_vectors, xavier_linear
from densevse.methods.structures import Words
from densevse.runtime.on_gpu import numbers_at_once


class Instances(NamedTuple):
    """The candidates of N images or N sentences, with everything that is computed once for all their pairs."""

    keys: Tensor  # (N, candidates, units) their attention keys
    values: Tensor  # (N, candidates, similarity) their projections into the space of local similarities
    present: Tensor  # (N, candidates) bool; a sentence's padding is not present
    weights: Tensor  # (N, candidates) their saliency at the first step, where no pair has a state yet
    attended: Tensor  # (N, similarity) what that saliency selects
    vectors: Tensor  # (N, E) their contexts at unit norm, whose cosine counts; (N, 0) in a score without a cosine


class _Product(nn.Linear):
    """A linear map x W / sqrt(size of x) + b, where W starts as draws from the standard normal distribution.

    With the usual small initial weights, one step of Adam moves all terms of a sum at once, and the sum by more than 1.
    On Flickr8k this saturated the tanh of Eq 2, and attention became uniform.
    """

    def reset_parameters(self) -> None:
        """Draws W from the standard normal distribution and sets b to 0."""
        nn.init.normal_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., outputs)."""
        return functional.linear(x, self.weight * self.in_features**-0.5, self.bias)


class Attention(nn.Module):
    """f_p and f_q (Eq 2), repaired: w . tanh(m W_m + a W_a + h W_h + b).

    As printed, Eq 2 adds three sigmoids, and the softmax of Eq 1 cancels those of the context and the state. Here the
    nonlinearity comes after the sum, so context and state change which candidates are salient. The outer bias b_p is
    left out, as the softmax cancels it.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """Takes the sizes of a candidate, of the context (None: no context), of the state h and of the sum."""
        super().__init__()
        self.candidate = _Product(candidate, units)
        self.context = _Product(context, units, bias=False) if context is not None else None
        self.hidden = _Product(hidden, units, bias=False)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, units) keys e^2x of (N, C, size) candidates and (N, size) contexts, the terms that no pair changes."""
        x: Tensor = self.candidate(candidates)
        return exponential(x if self.context is None else x + self.context(context).unsqueeze(1))

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) are in the order of `pairs`."""
        return tanh_sums(keys, exponential(self.hidden(hidden)), self.weight, pairs)


class PrintedAttention(nn.Module):
    """Eq 2 as printed: w . (sigmoid(m W_m + b_m) + sigmoid(a W_a + b_a) + sigmoid(h W_h + b_h)).

    The softmax of Eq 1 cancels the terms of context and state. It exists for comparison with `Attention`.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """Takes the same arguments as `Attention`."""
        super().__init__()
        self.candidate = nn.Linear(candidate, units)
        self.context = nn.Linear(context, units) if context is not None else None
        self.hidden = nn.Linear(hidden, units)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, 1) logits of (N, C, size) candidates; the (N, size) contexts add a constant."""
        x: Tensor = self.candidate(candidates).sigmoid() @ self.weight
        if self.context is not None:
            x = x + (self.context(context).sigmoid() @ self.weight).unsqueeze(1)
        return x.unsqueeze(2)

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) are in the order of `pairs`."""
        of_state: Tensor = self.hidden(hidden).sigmoid() @ self.weight
        return select_rows(keys.squeeze(2), pairs.owner) + of_state.unsqueeze(1)


class Selection(nn.Module):
    """One side of the attention scheme (Figure 2 b): the saliency of candidates and their weighted sum (Eq 1-3)."""

    def __init__(
        self, size: int, similarity: int, attention: Attention | PrintedAttention | None, context: int | None = None
    ) -> None:
        """Candidates of length `size`; without attention there is one for each image or sentence.

        `context` is the length of the context that joins what is selected (ours), None without one.
        """
        super().__init__()
        self.attention = attention
        self.projection = xavier_linear(size, similarity)
        self.context = xavier_linear(context, similarity) if context is not None else None

    def encode(self, candidates: Tensor, present: Tensor, context: Tensor | None) -> Instances:
        """Computes all that no pair changes, first step included, from (N, C, size) candidates and (N, E) contexts.

        Values are projected before they are summed, which is equal to projecting the sum of Eq 3. A context joins the
        sum if it joins each value, as the weights of Eq 1 sum to 1.
        """
        values = self.projection(candidates)
        no_vectors = values[:, 0, :0]
        if self.context is not None:
            values = values + self.context(context).unsqueeze(1)
        if self.attention is None:
            return Instances(values[:, :, :0], values, present, present.to(values.dtype), values[:, 0], no_vectors)
        keys = self.attention.keys(candidates, context)
        values = values.to(keys.dtype)  # under autocast, projections are of half precision
        alone = single_pairs(len(keys), keys.device)
        no_state = keys.new_zeros(len(keys), self.attention.hidden.in_features)
        weights, attended = self._select(keys, values, present, no_state, alone)
        return Instances(keys, values, present, weights, attended, no_vectors)

    def attend(self, candidates: Instances, hidden: Tensor, pairs: Grouped) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) a'_t or w'_t of pairs whose state is (P, H)."""
        arranged = pairs.arrange_rows(hidden)
        weights, attended = self._select(candidates.keys, candidates.values, candidates.present, arranged, pairs)
        return pairs.restore_rows(weights), pairs.restore_rows(attended)

    def _select(
        self, keys: Tensor, values: Tensor, present: Tensor, hidden: Tensor, pairs: Grouped
    ) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) weighted sums, given the pairs' states (P, H) in the order of `pairs`."""
        assert self.attention is not None
        logits = self.attention.logits(keys, hidden, pairs)
        weights = logits.masked_fill(~present[pairs.owner], -torch.inf).softmax(dim=1)  # Eq 1
        return weights, weighted_sums(weights, values, pairs)  # Eq 3


class SMLSTM(Method):
    """Selective multimodal LSTM. Encodings are the instances among which it selects."""

    images_as = Instances

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if the views are not a grid and one vector for each image."""
        super().__init__(parameters, shapes)
        cell, image_context = (shapes.features[view] for view in _views(shapes))
        state, sentence_context = 2 * parameters.word_hidden, parameters.context_dimension
        hidden, cosine = parameters.hidden, parameters.head == "cosine_and_mlp"
        in_attention = parameters.select == "attention" and parameters.context
        self.words: nn.Embedding | None = None  # with the BLSTM, which gives the candidates
        self.context_words: nn.Embedding | None = None  # with the LSTM, which gives the sentence's context
        if parameters.select != "context":
            self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
            self.blstm = Bidirectional("lstm", self.words.embedding_dim, parameters.word_hidden)
        if parameters.select == "context" or in_attention or parameters.contexts_in_score or cosine:
            self.context_words = word_vectors(parameters.word_vectors, parameters.context_word_dimension, shapes)
            self.context = Recurrent("lstm", self.context_words.embedding_dim, sentence_context)
        self.image = _side(parameters, cell, image_context)
        self.sentence = _side(parameters, state, sentence_context)
        self.embedding = xavier_linear(image_context, sentence_context) if cosine else None  # VSE's map of m
        self.gates = xavier_linear(parameters.similarity + hidden, 4 * hidden)
        nn.init.ones_(self.gates.bias.data[hidden : 2 * hidden])  # remember at first (Jozefowicz et al. 2015)
        self.mlp = nn.Sequential(
            nn.Linear(hidden, parameters.score_units), nn.Sigmoid(), nn.Linear(parameters.score_units, 1)
        )
        if cosine:
            for weight in self.mlp[2].parameters():
                nn.init.zeros_(weight)
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = RankingLoss(parameters.negatives, parameters.temperature)

    def start_from(self, method: str, weights: Mapping[str, Tensor]) -> None:
        """Section 4.2: initialises the LSTM of the sentence context from a trained VSE of the same data set.

        With a cosine, the linear map of images too. Raises `ValueError` if this variant has no context, or the other
        model has no LSTM of the same sizes.
        """
        if self.context_words is None:
            raise ValueError("this variant of sm-LSTM has no sentence context: remove its `start_from`")
        taken = {"words.weight": self.context_words.weight}
        taken |= {f"sentence.{name}": weight for name, weight in self.context.named_parameters()}
        if self.embedding is not None:
            taken |= {f"image.{name}": weight for name, weight in self.embedding.named_parameters()}
        for name, weight in taken.items():
            if name not in weights or weights[name].shape != weight.shape:
                found = list(weights[name].shape) if name in weights else "none"
                raise ValueError(
                    "sm-LSTM starts from a VSE whose branches are plain, whose encoder is an LSTM, whose dimension is "
                    "context_dimension and whose word_dimension is context_word_dimension. "
                    f"Its {name} would be of shape {list(weight.shape)}; the model of the method {method} has {found}"
                )
            weight.data.copy_(weights[name])

    def encode_images(self, images: Images) -> Instances:
        """The cells of the feature map as candidates, with the image's global context m (sections 3.1 and 3.2)."""
        cells, context = (images.views[view] for view in _views(self.shapes))
        # Dropout drops a feature at all cells of an image: neighbours would reveal one dropped at a single cell.
        factor = self.dropout(_scale_factors(cells).expand(-1, 1, cells.shape[2]))
        present = torch.ones_like(cells[:, :, 0], dtype=torch.bool)
        encoded = self._encode(self.image, cells * factor, present, self.dropout(_rescale(context)))
        if self.embedding is None:
            return encoded
        return encoded._replace(vectors=functional.normalize(self.embedding(self.dropout(context)), dim=1))

    def plan(self, sentences: Sentences) -> tuple[Prefixes, Turned | None]:
        """The order in which the LSTM and, where there is one, the BLSTM read the sentences."""
        words, device = self._words(sentences).index_on_host(), module_device(self)
        return prefixes(words, device), plan_backward(words, device) if self.words is not None else None

    def encode_sentences(self, sentences: Sentences) -> Instances:
        """The BLSTM's state at each word as candidates, with the LSTM's last state as global context n."""
        words, states, last, context = self._words(sentences), None, None, None
        tree, backwards = self.device_plan(sentences)
        if self.words is not None:
            states = self.blstm(self.dropout(self.words(tree.distinct)), tree, backwards)
            states = states * _scale_factors(states, words.lengths)
        if self.context_words is not None:
            last = self.context(self.dropout(self.context_words(tree.distinct)), tree)
            context = self.dropout(_rescale(last))
        encoded = self._encode(self.sentence, states, words.index != 0, context)
        if last is None or self.embedding is None:
            return encoded
        return encoded._replace(vectors=functional.normalize(last, dim=1))

    def score(self, images: Instances, sentences: Instances) -> Tensor:
        """(I, S) s of Eq 5, or with a cosine."""
        lengths = sentences.present.sum(dim=1).cpu()
        return scores_of_all_pairs(self.compare, images, sentences, lengths, self._pair_limit(images, sentences))

    def loss(self, images: Instances, sentences: Instances, batch: Batch, moment: Moment) -> Tensor:
        """L of Eq 7 over the batch: L_mat over mismatched pairs, and the regulariser over matched ones; a scalar."""
        parameters: Parameters = moment.parameters
        size, lengths = len(batch.positives), torch.from_numpy(self._words(batch.sentences).lengths_on_host())
        candidates = compared_pairs(size, parameters.mismatched, images.values.device)
        regularised = parameters.balance != 0 and parameters.select == "attention"
        at_once = self._pair_limit(images, sentences)
        saliency = None
        if not images.values.is_cpu and len(candidates.image) <= at_once:
            sentences = _cut(sentences, int(lengths.max()))
            hidden, steps = self._unroll(images, sentences, candidates.pairing)
            found = self._scores(images, sentences, candidates.pairing, hidden)
            # The first candidate of each image is its own sentence.
            saliency = _saliency([(part[:: candidates.each] for part in step) for step in steps])
        else:
            pairs = candidates.image, candidates.sentence
            weights: list[Tensor] = list(self.parameters())
            found = scores_of_pairs(self.compare, images, sentences, pairs, lengths, weights, at_once)
        scores = found.new_zeros(size, size).scatter(1, candidates.columns, found.view(size, -1))
        loss: Tensor = self.ranking(scores, batch.positives | candidates.left_out, parameters) / size
        if not regularised:
            return loss
        if saliency is None:
            matched = torch.arange(size)
            saliency = self.saliency(images, sentences, matched, matched)
        return loss + parameters.balance * regulariser(saliency, sentences.present, parameters.regulariser)

    def compare(
        self, images: Instances, sentences: Instances, image: Tensor, sentence: Tensor, longest: int | None = None
    ) -> Tensor:
        """(P,) s of Eq 5, or with a cosine, for pairs given by their rows in the encodings, (P,) each.

        See densevse/kernels/pairs.py.
        """
        pairs, sentences = Pairing.from_rows(image, sentence, images.values.device), _cut(sentences, longest)
        return self._scores(images, sentences, pairs, self._unroll(images, sentences, pairs)[0])

    def _scores(self, images: Instances, sentences: Instances, pairs: Pairing, hidden: Tensor) -> Tensor:
        """(P,) s of Eq 5, or with a cosine, for pairs whose state h_T is (P, H)."""
        score: Tensor = self.mlp(hidden).squeeze(1)
        if self.embedding is None:
            return score
        vectors = pairs.by_image.spread(images.vectors), pairs.by_sentence.spread(sentences.vectors)
        return score + (vectors[0] * vectors[1]).sum(dim=1)

    def _pair_limit(self, images: Instances, sentences: Instances) -> int:
        """The number of pairs that are compared at once; a GPU's memory holds their activations."""
        parameters, device = self.hyperparameters, images.values.device
        instances = images.weights.shape[1] + sentences.weights.shape[1]
        of_pair = parameters.steps * (2 * instances + 6 * parameters.similarity + 12 * parameters.hidden)
        return max(1, numbers_at_once(device, parameters.pairs_at_once * of_pair) // of_pair)

    def saliency(self, images: Instances, sentences: Instances, image: Tensor, sentence: Tensor) -> Saliency:
        """The p_t and q_t of Eq 1 at each step, for pairs given by their rows in the encodings, (P,) each."""
        _, steps = self._unroll(images, sentences, Pairing.from_rows(image, sentence, images.values.device))
        return _saliency(steps)

    def _words(self, sentences: Sentences) -> Words:
        """The words of sentences, cut at the number that the paper reads (section 4.2)."""
        words: Words = sentences["words"]
        return words.cut(self.hyperparameters.longest)

    def _encode(self, side: Selection, candidates: Tensor | None, present: Tensor, context: Tensor | None) -> Instances:
        """The candidates as they are, or a single one in their place: their mean (-mean) or the context (-ctx)."""
        select = self.hyperparameters.select
        if candidates is None or select == "context":
            assert context is not None
            return side.encode(context.unsqueeze(1), present[:, :1], None)
        if select == "mean":  # states at padding are zero
            mean = candidates.sum(dim=1) / present.sum(dim=1, keepdim=True)
            return side.encode(mean.unsqueeze(1), present[:, :1], context)
        return side.encode(candidates, present, context)

    def _unroll(
        self, images: Instances, sentences: Instances, pairs: Pairing
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Runs all steps of the pairs: returns (P, H) h_T, and each step's saliency over cells and words."""
        by_image, by_sentence = pairs
        cells, words = by_image.spread(images.weights), by_sentence.spread(sentences.weights)
        saliency = [(cells, words)]
        # The instances of the first step are the same for all pairs, so they are scaled before they are repeated.
        of_image, of_sentence = (_rescale(side.attended) for side in (images, sentences))
        of_similarity = self._gates(by_image.spread(of_image), by_sentence.spread(of_sentence))
        of_hidden = self.gates.weight[:, self.hyperparameters.similarity :].T
        hidden, cell = lstm_cell(of_similarity, of_similarity.new_zeros(len(cells), self.hyperparameters.hidden))
        attends = self.hyperparameters.select == "attention" and self.hyperparameters.steps > 1
        for _ in range(1, self.hyperparameters.steps):
            if attends:
                state = self._state(hidden)
                cells, of_image = self.image.attend(images, state, by_image)
                words, of_sentence = self.sentence.attend(sentences, state, by_sentence)
                of_similarity = self._gates(_rescale(of_image), _rescale(of_sentence))
            hidden, cell = lstm_cell(torch.addmm(of_similarity, hidden, of_hidden), cell)  # Eq 4
            saliency.append((cells, words))
        return hidden, saliency

    def _state(self, hidden: Tensor) -> Tensor:
        """(P, H) the h of Eq 2: the pairs' states as printed, or our variants of them."""
        state = self.hyperparameters.state
        if state == "none":
            return torch.zeros_like(hidden)
        return _rescale(hidden) if state == "scaled" else hidden

    def _gates(self, image: Tensor, sentence: Tensor) -> Tensor:
        """(P, 4H) the input of the gates, from (P, similarity) scaled projections of a'_t and w'_t (section 3.4)."""
        product = self.hyperparameters.comparison == "product"
        similarity = image * sentence if product else torch.sigmoid(image + sentence)  # s_t
        return functional.linear(similarity, self.gates.weight[:, : similarity.shape[1]], self.gates.bias)


class ComparedPairs(NamedTuple):
    """The pairs that Eq 6 compares in a batch of `size`: each image with its own sentence first, and with others."""

    image: Tensor  # (P,) rows of images, on the CPU
    sentence: Tensor  # (P,) rows of sentences, on the CPU
    pairing: Pairing  # the same pairs on the method's device
    columns: Tensor  # (size, each) the sentences of each image, there
    left_out: Tensor  # (size, size) bool: the pairs that are not compared, there
    each: int  # pairs of each image, and of each sentence


@lru_cache(maxsize=4)
def compared_pairs(size: int, mismatched: int, device: torch.device) -> ComparedPairs:
    """The candidates of a batch of `size` pairs; kept, as nearly all batches have the same.

    Image i is compared with its own sentence and the `mismatched` sentences after it, cyclically. So each sentence is
    compared with as many mismatched images.
    """
    with torch.inference_mode(False):  # a training must be able to use what a validation kept
        image = torch.arange(size).unsqueeze(1)
        sentence = (image + torch.arange(min(size, 1 + mismatched))) % size
        left_out = torch.ones(size, size, dtype=torch.bool).scatter(1, sentence, False)
        pairs = image.expand_as(sentence).flatten(), sentence.flatten()
        columns, others = (part.to(device, non_blocking=True) for part in (sentence, left_out))
        return ComparedPairs(*pairs, Pairing.from_rows(*pairs, device), columns, others, sentence.shape[1])


@lru_cache(maxsize=16)
def single_pairs(count: int, device: torch.device) -> Grouped:
    """One pair for each of `count` images (or sentences)."""
    with torch.inference_mode(False):
        return Grouped.from_owners(torch.arange(count), device)


def _saliency(steps: Iterable[Iterable[Tensor]]) -> Saliency:
    """The saliency over cells and words of all steps, from each step's."""
    cells, words = zip(*steps, strict=True)
    return Saliency("grid", torch.stack(cells), torch.stack(words))


def regulariser(saliency: Saliency, present: Tensor, kind: str) -> Tensor:
    """Eq 7 as means over pairs: (1 - sum_t p_ti)^2 over cells plus (1 - sum_t q_tj)^2 over words.

    As printed, without the squares, it is 2 - T / cells - T / words for every saliency. `present` (P, longest) is true
    where the pairs' sentences have words.
    """

    def missing_weight(weights: Tensor) -> Tensor:
        """(P, candidates) 1 - sum_t of (T, P, candidates) weights, squared unless as printed."""
        missing = 1 - weights.sum(dim=0)
        return missing.square() if kind == "squared" else missing

    words = saliency.words.shape[2]
    present = present[:, :words]
    of_words = (missing_weight(saliency.words) * present).sum(dim=1) / present.sum(dim=1)
    return (missing_weight(saliency.places).mean(dim=1) + of_words).mean()


def _rescale(x: Tensor) -> Tensor:
    """Rescales x to mean square 1 over all dimensions but the first."""
    return x * _scale_factors(x)


def _scale_factors(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """(N, 1, ...) the factors of `_rescale`. In the second dimension only the first `lengths` (N,) places count."""
    rest = tuple(range(1, x.dim()))
    square = torch.linalg.vector_norm(x, dim=rest, keepdim=True).square()
    size = x[0].numel() if lengths is None else lengths.view(-1, 1, 1) * x.shape[2]
    return torch.rsqrt(square / size + 1e-12)


def _side(parameters: Parameters, candidate: int, context: int) -> Selection:
    """The selection on one side, from the sizes of a candidate and of the side's global context."""
    size = context if parameters.select == "context" else candidate
    attention = None
    if parameters.select == "attention":
        kind = Attention if parameters.attention == "repaired" else PrintedAttention
        given = context if parameters.context else None
        attention = kind(candidate, given, parameters.hidden, parameters.attention_units)
    return Selection(size, parameters.similarity, attention, context if parameters.contexts_in_score else None)


def _views(shapes: Shapes) -> tuple[str, str]:
    """The names of the view with the cells and of the view with the context."""
    contexts = set(shapes.features) - {"grid"}
    if "grid" not in shapes.features or contexts not in ({"whole"}, {"centre"}, {"ten_crop"}):
        raise ValueError(
            f"sm_lstm reads the views grid and whole (or centre, or ten_crop), not {sorted(shapes.features)}"
        )
    return "grid", contexts.pop()


def _cut(sentences: Instances, longest: int | None) -> Instances:
    """The first `longest` words, where no sentence that is read has more."""
    keys, values, present, weights = (part[:, :longest] for part in sentences[:4])
    return sentences._replace(keys=keys, values=values, present=present, weights=weights)


METHOD = SMLSTM

"""SC-NLM: the structure-content neural language model (Kiros, Salakhutdinov, Zemel 2014, "Decoder").

It predicts a word from the words before it, w_1:n-1, the tags of it and of the words after it, t_n:n+k (structure), and
an embedding v of the joint space (content). It is trained on text alone, with the sentence's embedding as v; to
describe an image, v is the image's embedding.

The poster names the model; its terms are those of the factored multiplicative log-bilinear model (Kiros, Salakhutdinov,
Zemel, ICML 2014), with

    E = W_fk^T W_fv                                 the words' vectors, folded into the factors
    r = sum_i C_i E[:, w_(n-i)]                     the context of words
    u = relu(sum_i T_i t_(n+i) + T_v v + b_u)       the attributes: structure and content
    f = (W_fk r) * (W_fd u)                         the factors
    P(w_n) = softmax(W_fv^T f + b)

Without tags it is the multiplicative model MLBL; without attributes f = W_fk r, the log-bilinear model LBL. Word 0, the
padding, stands before the first word and, as a target, after the last one; tag 0 stands after the last tag.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.arrays import tensor_on_device
from densevse.methods.generators.interface import CONTENT, Generator, State
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators.sc_nlm import Parameters
from densevse.methods.structures import Tags

UNKNOWN_TAG = 1


@dataclass(frozen=True)
class Positions:
    """The places of a batch's sentences where a word or the end is predicted, sentence after sentence."""

    before: Tensor  # (P, word_context) the words before it, the nearest first; 0 before the sentence
    tags: Tensor  # (P, tag_context) the tags of it and of the words after it; 0 after the sentence
    target: Tensor  # (P,) the word itself; 0 at the end
    sentence: Tensor  # (P,) the sentence's row


def positions(sentences: Tags, word_context: int, tag_context: int) -> Positions:
    """All predictions of tagged sentences: one for each word, and one for the end."""
    steps, device = sentences.lengths_on_host() + 1, sentences.words.device
    first = np.cumsum(steps) - steps
    sentence = tensor_on_device(np.repeat(np.arange(len(steps)), steps), device)
    place = tensor_on_device(np.arange(steps.sum()) - np.repeat(first, steps), device)
    words = functional.pad(sentences.words, (word_context, 1))
    tags = functional.pad(sentences.tags, (0, tag_context))
    back = place[:, None] + word_context - 1 - torch.arange(word_context, device=device)
    ahead = place[:, None] + torch.arange(tag_context, device=device)
    return Positions(
        words[sentence[:, None], back],
        tags[sentence[:, None], ahead],
        words[sentence, place + word_context],
        sentence,
    )


class SCNLM(Generator):
    """The language model. Its contents are vectors of the joint space: of sentences in training, else of images."""

    structure = "tags"
    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        super().__init__(parameters, shapes)
        self.tags, words = shapes.sizes["tags"], shapes.words
        size, factors, attributes = parameters.dimension, parameters.factors, parameters.attribute_dimension
        self.w_fv = nn.Parameter(torch.empty(words, factors))  # W_fv^T
        self.w_fk = nn.Linear(size, factors, bias=False)
        self.c = nn.Linear(parameters.word_context * size, size, bias=False)  # C_1 ... C_(n-1), side by side
        self.b = nn.Parameter(torch.zeros(words))
        self.dropout = nn.Dropout(parameters.dropout)
        nn.init.normal_(self.w_fv, std=factors**-0.5)
        if parameters.attributes != "none":
            self.t_v = nn.Linear(shapes.features[CONTENT], attributes)  # T_v and b_u
            self.w_fd = nn.Linear(attributes, factors, bias=False)
        if parameters.attributes == "structure_and_content":
            # Tags are one-hot, so that T_i t is a column of T_i: one row of this table for each i and tag.
            self.t = nn.EmbeddingBag(parameters.tag_context * self.tags, attributes, mode="sum")
            nn.init.normal_(self.t.weight, std=attributes**-0.5)
            # A tag that training never had contributes nothing.
            nn.init.zeros_(self.t.weight.data.view(parameters.tag_context, self.tags, attributes)[:, UNKNOWN_TAG])

    def negative_log_likelihood(self, content: Tensor, sentences: Tags) -> Tensor:
        """(S,) minus the log probability of each sentence and its end, given its embedding (S, content)."""
        asked = positions(sentences, self.hyperparameters.word_context, self.hyperparameters.tag_context)
        r = self.context(self.word_vectors(asked.before))
        shared = self.contents(content)
        u = None if shared is None else self.attributes(shared[asked.sentence], asked.tags)
        logits = self.logits(r, u)
        losses = functional.cross_entropy(logits, asked.target, reduction="none")
        return losses.new_zeros(len(sentences.lengths)).index_add(0, asked.sentence, losses)

    @property
    def follows_tags(self) -> bool:
        """True for the model with structure (SC-NLM), false for MLBL and LBL."""
        return self.hyperparameters.attributes == "structure_and_content"

    def begin(self, content: Tensor, tags: Tensor | None) -> tuple[Tensor, State]:
        """(R, steps, F) W_fd u of every step. Without structure one step stands for all; without attributes it is 1.

        The state is the words before, the nearest first. Raises `ValueError` if tags are missing or empty.
        """
        sizes = self.hyperparameters
        before = torch.zeros(len(content), 1, sizes.word_context, dtype=torch.long, device=content.device)
        shared = self.contents(content)
        if shared is None:
            return content.new_ones(len(content), 1, 1), (before,)
        if not self.follows_tags:
            return self.w_fd(self.attributes(shared, before[:, 0])).unsqueeze(1), (before,)
        if tags is None or not tags.shape[1] or (tags == 0).all(dim=1).any():
            raise ValueError("a sentence with structure is written along a sequence of at least one tag")
        ahead = functional.pad(tags, (0, sizes.tag_context)).unfold(1, sizes.tag_context, 1)
        steps = ahead.shape[1]
        u = self.attributes(shared.repeat_interleave(steps, dim=0), ahead.flatten(0, 1))
        return self.w_fd(u).unflatten(0, (-1, steps)), (before,)

    def step(self, begun: Tensor, number: int, words: Tensor, state: State) -> tuple[Tensor, State]:
        """The equations of the module's docstring, with W_fd u from `begin`."""
        before = torch.cat((words.unsqueeze(2), state[0][:, :, :-1]), dim=2) if number else state[0]
        r = self.context(self.word_vectors(before.flatten(0, 1)))
        factors = self.w_fk(r).unflatten(0, words.shape) * begun[:, min(number, begun.shape[1] - 1), None]
        return functional.linear(factors, self.w_fv, self.b), (before,)

    def word_vectors(self, words: Tensor) -> Tensor:
        """(P, word_context, K) columns of E for the words (P, word_context), computed once for each distinct word."""
        distinct, rows = words.unique(return_inverse=True)
        return (self.w_fv[distinct] @ self.w_fk.weight)[rows]

    def context(self, before: Tensor) -> Tensor:
        """(P, K) r of the vectors (P, word_context, K) of the words before, the nearest first."""
        return self.dropout(self.c(before.flatten(1)))  # type: ignore[no-any-return]

    def contents(self, content: Tensor) -> Tensor | None:
        """(S, D) T_v v + b_u, which all predictions of a sentence share; None for the log-bilinear model.

        Standardised content has mean 0 and variance 1 over the values of each v first, as the LSTM captioner's has.
        """
        if self.hyperparameters.attributes == "none":
            return None
        standardised = self.hyperparameters.standardised_content
        v = functional.layer_norm(content, content.shape[1:]) if standardised else content
        return self.t_v(v)  # type: ignore[no-any-return]

    def attributes(self, contents: Tensor, tags: Tensor) -> Tensor:
        """(P, D) u of the predictions' contents (P, D) and tags (P, tag_context)."""
        if self.hyperparameters.attributes == "content":
            return self.dropout(contents.relu())  # type: ignore[no-any-return]
        offset = self.tags * torch.arange(tags.shape[1], device=tags.device)
        return self.dropout((self.t(tags + offset) + contents).relu())  # type: ignore[no-any-return]

    def logits(self, r: Tensor, u: Tensor | None) -> Tensor:
        """(P, words) of r (P, K) and u (P, D): W_fv^T f + b."""
        f = self.w_fk(r)
        if u is not None:
            f = f * self.w_fd(u)
        return functional.linear(f, self.w_fv, self.b)


METHOD = SCNLM

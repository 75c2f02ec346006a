"""m-RNN: the multimodal recurrent neural network (Mao, Xu, Yang, Wang, Huang, Yuille, ICLR 2015), as a ranker.

A word is embedded by two layers as w(t). The recurrent layer does not see the image; the multimodal layer joins both:

    r(t) = f_2(U_r r(t-1) + w(t)),  f_2 = ReLU                                                   (2)
    m(t) = g_2(V_w w(t) + V_r r(t) + V_I I)                                                      (3)
    g_2(x) = 1.7159 tanh(2/3 x)                                                                  (4)

A softmax layer above m(t) predicts the next word. So w(t) and r(t) are computed once for each sentence, and only m(t)
and the softmax for each pair. Training lowers the cost of Eq 6 without its decay of weights, up to a factor.

As chosen here: I is a fixed network's vector, scaled to mean 0 and variance 1, as in NIC (densevse/methods/nic.py); U_r
starts orthogonal, as the weights of our other recurrent networks do; the softmax layer has a bias. How pairs are
ranked: densevse/methods/likelihood.py.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.methods.interface import Sentences, Shapes
from densevse.methods.likelihood import LikelihoodRanking, target_words
from densevse.methods.parameters.m_rnn import Parameters
from densevse.methods.parts import word_vectors


class SentencesOfContexts(NamedTuple):
    """Sentences with what the multimodal layer reads of them."""

    words: Tensor  # (S, longest) padded with 0
    contexts: Tensor  # (S, longest + 1, multimodal) V_w w(t) + V_r r(t), of the start and of each word
    marginal: Tensor  # (S,) log p(s)


class MRNN(LikelihoodRanking):
    """The multimodal recurrent neural network. Images are encoded as V_I I."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless one view of whole images is read."""
        super().__init__(parameters, shapes)
        size, multimodal = parameters.word_dimension, parameters.multimodal
        self.words = word_vectors("learned", parameters.embedding, shapes)
        self.start = nn.Parameter(torch.zeros(parameters.embedding))
        self.embedding = nn.Linear(parameters.embedding, size, bias=False)
        self.u_r = nn.Parameter(nn.init.orthogonal_(torch.empty(size, size)))
        self.v_w = nn.Linear(size, multimodal, bias=False)
        self.v_r = nn.Linear(size, multimodal, bias=False)
        self.v_i = nn.Linear(self.image_size, multimodal, bias=False)
        self.softmax = nn.Linear(multimodal, shapes.words)

    def read_images(self, vectors: Tensor) -> Tensor:
        """(I, multimodal) V_I I of Eq 3."""
        return self.v_i(vectors)  # type: ignore[no-any-return]

    def read_sentences(self, sentences: Sentences) -> SentencesOfContexts:
        """V_w w(t) + V_r r(t) of Eq 3, from the recurrence of Eq 2."""
        words = sentences["words"].index
        read = torch.cat((self.start.expand(len(words), 1, -1), self.words(words)), dim=1)
        w = self.embedding(read)
        state = torch.zeros_like(w[:, 0])
        states = []
        for step in w.unbind(dim=1):
            state = torch.addmm(step, state, self.u_r.T).relu()
            states.append(state)
        contexts = self.v_w(w) + self.v_r(torch.stack(states, dim=1))
        return SentencesOfContexts(words, contexts, contexts.new_zeros(len(words)))

    def log_likelihood(self, images: Tensor, image: Tensor, sentences: SentencesOfContexts) -> Tensor:
        """(P,) log p, by Eq 3 and 4, of sentences given the images of their numbers."""
        target, present = target_words(sentences.words)
        places = present.flatten().nonzero().squeeze(1)  # once, as the host waits for their number
        joined = sentences.contexts + images[image].unsqueeze(1)
        m = 1.7159 * (2 / 3 * joined.flatten(0, 1)[places]).tanh()
        losses = functional.cross_entropy(self.softmax(m), target.flatten()[places], reduction="none")
        return losses.new_zeros(present.numel()).index_copy(0, places, -losses).view(present.shape).sum(dim=1)


METHOD = MRNN

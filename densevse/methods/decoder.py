"""An LSTM decoder that predicts a sentence word by word from a vector (SCO, Eq 3; NIC, Vinyals et al. 2015).

    i_t, f_t, o_t = sigmoid(W F w_t + U h_t-1 + b) of each gate, with h_0 = v, the vector, and c_0 = 0
    c_t = f_t * c_t-1 + i_t * tanh(W F w_t + U h_t-1 + b)
    h_t = o_t * tanh(c_t)
    q_t = softmax(F^T h_t + b_p)                                                                 (3)
    L_gen = - sum_t log q_t(w_t+1)

As printed, Eq 3 takes q_t at the word w_t that the step has just read; here it is the next word.

Word 0, the padding, is never a word of a sentence. As a target it is the sentence's end, with a column of F of its own.
As an input it marks the start, which has a vector of its own (ours).
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.arrays import Integers
from densevse.kernels.recurrent import END, Recurrent, Teaching, teaching
from densevse.methods.moving import to_device
from densevse.methods.structures import UNKNOWN, Words


class Decoder(nn.Module):
    """Predicts sentences from initial states (S, hidden).

    `words` are the vectors F of Eq 3, (words, D), used for inputs and, transposed, for predictions. The printed product
    F^T h has no matching shapes: F is (300, words) and h has 1,024 values. So `project` maps h to D values first. With
    `most_frequent`, words with this number or a higher one are read and predicted as the unknown word.
    """

    def __init__(self, words: nn.Embedding, hidden: int, most_frequent: int | None = None) -> None:
        super().__init__()
        self.words = words
        self.start = nn.Parameter(torch.zeros(words.embedding_dim))  # read before the first word
        self.recurrent = Recurrent("lstm", words.embedding_dim, hidden)
        self.project = nn.Linear(hidden, words.embedding_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(min(words.num_embeddings, most_frequent or words.num_embeddings)))  # b_p

    def plan(self, words: Words) -> Teaching:
        """The order in which the decoder reads and predicts sentences; its tensors are on the CPU."""
        host = self._replace_unknown(words.index_on_host())
        return teaching(host, host)

    def negative_log_likelihood(
        self, initial: Tensor, words: Words, sampled: float = 0.0, planned: Teaching | None = None
    ) -> Tensor:
        """(S,) L_gen of each sentence: minus the sum over its words, and its end, of log P (section 3.4).

        `initial` (S, hidden) are the first states. With the probability `sampled`, an input word is drawn from the
        decoder's own prediction (scheduled sampling, Bengio et al. 2015); no gradient passes through it. `planned` is
        the plan of the words, if it was made ahead.
        """
        if sampled:
            read = self.sample(initial, words, sampled).index_on_host()
            planned = to_device(teaching(self._replace_unknown(words.index_on_host()), read), initial.device)
        elif planned is None:
            planned = to_device(self.plan(words), initial.device)
        # The distinct words rise, and every sentence begins with the start, so that it is the first of them.
        vectors = torch.cat([self.start[None], self.words(planned.tree.distinct[1:])])
        hidden = self.recurrent.states(vectors, planned.tree, initial)
        losses = functional.cross_entropy(self.logits(hidden), planned.target, reduction="none")
        return losses.new_zeros(len(initial)).index_add(0, planned.sentence, losses)

    def inputs(self, words: Tensor) -> Tensor:
        """(S, D) vectors that a step reads: of the words (S,), and the start's where there is no word before."""
        return torch.where((words == END).unsqueeze(1), self.start, self.words(words))

    def logits(self, hidden: Tensor) -> Tensor:
        """(P, words) logits of the word that follows: F^T of the projected states, plus b_p."""
        return functional.linear(self.project(hidden), self.words.weight[: len(self.bias)], self.bias)

    @torch.no_grad()
    def sample(self, initial: Tensor, words: Words, probability: float) -> Words:
        """Replaces each word, with a probability, by a draw from the decoder's prediction (scheduled sampling)."""
        hidden, memory = initial, torch.zeros_like(initial)
        index = words.index.masked_fill(words.index >= len(self.bias), UNKNOWN)
        before, read = index.new_full((len(index),), END), []
        for step in range(index.shape[1]):
            hidden, memory = self.recurrent.step(self.inputs(before), hidden, memory)
            drawn = torch.multinomial(self.logits(hidden).float().softmax(dim=1), 1)[:, 0]
            replaced = torch.rand(len(index), device=index.device) < probability
            before = torch.where(replaced, drawn, index[:, step])
            read.append(before)
        return Words(torch.stack(read, dim=1), words.lengths)

    def _replace_unknown(self, words: Integers) -> Integers:
        """Replaces words that the decoder does not know by the unknown word."""
        return np.where(words < len(self.bias), words, UNKNOWN)

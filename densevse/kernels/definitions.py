"""H-LSTM by its definition: Eq 2-8 of Niu et al. (ICCV 2017) as they are printed, one node at a time.

This is what densevse/kernels/hlstm.py computes for whole batches, and fast. Its tests hold values and gradients to
this.
"""

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.hlstm import BAR, HAT, HLSTM
from densevse.methods.structures import Trees


def hidden_states(encoder: HLSTM, vectors: Tensor, trees: Trees) -> Tensor:
    """(nodes, hidden) h_j of every node of `trees`, with the weights of `encoder`; `vectors` (words, inputs) holds x_j.

    Symbols are the paper's: a hat marks children that are noun phrases (the set of k), a bar all others (of l).
    """
    hidden = encoder.u.shape[2]
    w_i, w_o, w_u = encoder.w.split(hidden)
    b_i, b_o, b_u, b_f = encoder.b.split(hidden)
    bar_i, bar_o, bar_u, bar_f = encoder.u[BAR].split(hidden)
    hat_i, hat_o, hat_u, hat_f = encoder.u[HAT if encoder.typed else BAR].split(hidden)
    w_f = torch.zeros_like(w_i)  # meets x_j = 0 only: inner nodes have no word, leaves have no children
    h: list[Tensor] = []
    c: list[Tensor] = []
    for j in range(len(trees.word)):
        children = np.flatnonzero(trees.parent == j)
        noun_phrases = [k for k in children if trees.noun_phrase[k]]
        others = [k for k in children if not trees.noun_phrase[k]]
        x = vectors[int(trees.word[j])] if len(children) == 0 else torch.zeros_like(vectors[0])
        zero = torch.zeros_like(b_i)
        h_hat, h_bar = sum((h[k] for k in noun_phrases), zero), sum((h[k] for k in others), zero)  # Eq 2
        f_hat = {k: torch.sigmoid(w_f @ x + hat_f @ h[k] + b_f) for k in noun_phrases}  # Eq 3
        f_bar = {k: torch.sigmoid(w_f @ x + bar_f @ h[k] + b_f) for k in others}  # Eq 4
        i = torch.sigmoid(w_i @ x + hat_i @ h_hat + bar_i @ h_bar + b_i)  # Eq 5
        o = torch.sigmoid(w_o @ x + hat_o @ h_hat + bar_o @ h_bar + b_o)  # Eq 6
        u = torch.tanh(w_u @ x + hat_u @ h_hat + bar_u @ h_bar + b_u)
        kept = sum((f_hat[k] * c[k] for k in noun_phrases), zero) + sum((f_bar[k] * c[k] for k in others), zero)
        c.append(i * u + kept)  # Eq 7
        h.append(o * torch.tanh(c[j]))  # Eq 8
    return torch.stack(h)

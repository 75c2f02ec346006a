"""Defines what each kernel computes, by slow and literal loops; tests compare values and gradients with these.

Symbols and numbers of equations are the papers'. Nothing but tests calls these functions.
"""

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.arrays import Booleans, Integers
from densevse.kernels.bidirectional import Bidirectional
from densevse.kernels.cross_attention import AttentionSide, CrossAttention
from densevse.kernels.fragment_sums import LinearByRelation
from densevse.kernels.hlstm import BAR, HAT, HLSTM
from densevse.kernels.pairs import Compare
from densevse.kernels.recurrent import Recurrent


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The hidden state and the memory, (P, H) each, from the gates' inputs (P, 4H) and the memory before (P, H)."""
    i, f, o, candidate = gates.chunk(4, dim=1)
    after = f.sigmoid() * cell + i.sigmoid() * candidate.tanh()
    return o.sigmoid() * after.tanh(), after


def lstm(layer: Recurrent, vectors: Tensor, initial: Tensor | None = None) -> Tensor:
    """(T, H) hidden states of one sentence's words (T, inputs), starting from zero or from `initial` (H,)."""
    hidden = vectors.new_zeros(layer.weight_hidden.shape[1]) if initial is None else initial
    cell, states = torch.zeros_like(hidden), []
    for x in vectors:
        gates = layer.weight_input @ x + layer.bias_input + layer.weight_hidden @ hidden
        (hidden,), (cell,) = lstm_cell(gates[None], cell[None])
        states.append(hidden)
    return torch.stack(states)


def gru(layer: Recurrent, vectors: Tensor) -> Tensor:
    """(T, H) hidden states of one sentence's words (T, inputs); the reset gate acts after the product."""
    hidden, states = vectors.new_zeros(layer.weight_hidden.shape[1]), []
    for x in vectors:
        of_input = (layer.weight_input @ x + layer.bias_input).chunk(3)
        of_hidden = (layer.weight_hidden @ hidden).chunk(3)
        reset, update = ((of_input[gate] + of_hidden[gate]).sigmoid() for gate in (0, 1))
        candidate = torch.tanh(of_input[2] + reset * (of_hidden[2] + layer.bias_hidden))
        hidden = update * hidden + (1 - update) * candidate
        states.append(hidden)
    return torch.stack(states)


def bidirectional(layer: Bidirectional, vectors: Tensor) -> Tensor:
    """(T, 2H) hidden states of both directions at one sentence's words (T, inputs)."""
    one_way = {"lstm": lstm, "gru": gru}[layer.forwards.kind]
    return torch.cat((one_way(layer.forwards, vectors), one_way(layer.backwards, vectors.flip(0)).flip(0)), dim=1)


def predictions(words: list[int]) -> list[tuple[int, int]]:
    """Pairs of the word that a decoder reads and the word that it predicts, for one sentence; 0 stands at both ends."""
    return list(zip([0, *words], [*words, 0], strict=True))


def h_lstm(encoder: HLSTM, vectors: Tensor, word: Integers, parent: Integers, noun_phrase: Booleans) -> Tensor:
    """(nodes, hidden) h_j of every node of a batch of trees, Eq 2-8 of HM-LSTM; `vectors` (words, inputs) holds x_j.

    A hat marks children that are noun phrases (the set of k), a bar all others (of l).
    """
    hidden = encoder.u.shape[2]
    w_i, w_o, w_u = encoder.w.split(hidden)
    b_i, b_o, b_u, b_f = encoder.b.split(hidden)
    bar_i, bar_o, bar_u, bar_f = encoder.u[BAR].split(hidden)
    hat_i, hat_o, hat_u, hat_f = encoder.u[HAT if encoder.typed else BAR].split(hidden)
    w_f = torch.zeros_like(w_i)  # it only meets x_j = 0: inner nodes have no word, leaves have no children
    h: list[Tensor] = []
    c: list[Tensor] = []
    for j in range(len(word)):
        children = np.flatnonzero(parent == j)
        noun_phrases = [k for k in children if noun_phrase[k]]
        others = [k for k in children if not noun_phrase[k]]
        x = vectors[int(word[j])] if len(children) == 0 else torch.zeros_like(vectors[0])
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


def sdt_rnn(children: LinearByRelation, x: Tensor, head: Integers, weights: Integers, node: int) -> tuple[Tensor, int]:
    """h_i of a word and l(i), by recursion over the words that it governs (the SDT-RNN's equation)."""
    total, size = x[node], 1
    for j in np.flatnonzero(head == node):
        h, words = sdt_rnn(children, x, head, weights, int(j))
        total = total + words * (children.weight[int(weights[j])] @ h)
        size += words
    return torch.tanh(total / size), size


def linear_by_relation(layer: LinearByRelation, x: Tensor, relation: Integers) -> Tensor:
    """(n, outputs) W_R x + b_R of each vector (n, inputs) with its relation (n,)."""
    mapped = [layer.weight[r] @ one for one, r in zip(x, relation.tolist(), strict=True)]
    biases = [0 if layer.bias is None else layer.bias[r] for r in relation.tolist()]
    return torch.stack([one + bias for one, bias in zip(mapped, biases, strict=True)])


def order_scores(images: Tensor, sentences: Tensor) -> Tensor:
    """(I, S) -||max(0, v - u)||^2 of images u (I, D) and sentences v (S, D): Eq 2 of order embeddings."""
    return torch.stack([torch.stack([-(v - u).clamp(min=0).square().sum() for v in sentences]) for u in images])


def best_region_sums(regions: Tensor, in_image: Tensor, fragments: Tensor, in_sentence: Tensor) -> Tensor:
    """(I, S) sums over a sentence's fragments (S, T, D) of max_i v_i . s_j over an image's regions (I, R, D)."""
    sums = regions.new_zeros(len(regions), len(fragments))
    for image, g_k in enumerate(regions):
        for other, g_l in enumerate(fragments):
            for s in g_l[in_sentence[other]]:
                sums[image, other] = sums[image, other] + torch.stack([v @ s for v in g_k[in_image[image]]]).max()
    return sums


def fragment_sums(regions: Tensor, in_image: Tensor, fragments: Tensor, in_sentence: Tensor) -> Tensor:
    """(I, S) sums of max(0, v_i . s_j), Eq 6 of DeFrag, over the fragments (I, R, D) and (S, T, D) that exist."""
    sums = regions.new_zeros(len(regions), len(fragments))
    for k, g_k in enumerate(regions):
        for other, g_l in enumerate(fragments):
            for v in g_k[in_image[k]]:
                for s in g_l[in_sentence[other]]:
                    sums[k, other] = sums[k, other] + (v @ s).clamp(min=0)
    return sums


def cross_attention_scores(images: AttentionSide, sentences: AttentionSide, attention: CrossAttention) -> Tensor:
    """(I, S) scores of SCAN by Eq 1 to 6 of densevse/methods/scan.py, with explicit attended vectors."""
    scores = images.vectors.new_zeros(len(images.vectors), len(sentences.vectors))
    for i, (regions, in_image) in enumerate(zip(*images, strict=True)):
        for j, (words, in_sentence) in enumerate(zip(*sentences, strict=True)):
            sides = regions[in_image], words[in_sentence]
            queries, contexts = sides if attention.direction == "i2t" else sides[::-1]
            scores[i, j] = _cross_attention_score(queries, contexts, attention)
    return scores


def _cross_attention_score(queries: Tensor, contexts: Tensor, attention: CrossAttention) -> Tensor:
    """S of queries (n, D) of unit norm that attend to contexts (m, D)."""
    s = torch.stack([torch.stack([q @ c for c in contexts]) for q in queries])
    clipped = torch.where(s < 0, attention.slope * s, s) if attention.norm.startswith("clipped") else s
    columns = []  # of one context with all queries each, normalised (Eq 1)
    for column in clipped.T:
        size = {
            "l2norm": column.square().sum().sqrt() + 1e-8,
            "l1norm": column.abs().sum() + 1e-8,
            "softmax": column.exp().sum(),
        }.get(attention.norm.removeprefix("clipped_"), column.new_ones(()))
        columns.append((column.exp() if attention.norm == "softmax" else column) / size)
    r = []
    for q, row in zip(queries, torch.stack(columns, dim=1), strict=True):
        alpha = (attention.temperature * row).exp() / (attention.temperature * row).exp().sum()  # Eq 2
        a = sum((weight * c for weight, c in zip(alpha, contexts, strict=True)), torch.zeros_like(q))  # Eq 3
        r.append(q @ a / a.norm())  # Eq 4
    if attention.pooling == "avg":
        return torch.stack(r).mean()  # Eq 6
    return torch.stack([(attention.sharpness * one).exp() for one in r]).sum().log() / attention.sharpness  # Eq 5


def tanh_sums(x: Tensor, y: Tensor, weight: Tensor, owner: Tensor) -> Tensor:
    """(P, C) w . tanh(x + y), the repaired Eq 2 of sm-LSTM.

    `x` (N, C, units) holds the candidates of images, `y` (P, units) the pairs, and `owner` (P,) the image of each pair.
    """
    return torch.stack(
        [torch.stack([weight @ torch.tanh(one + of_pair) for one in x[n]]) for of_pair, n in zip(y, owner, strict=True)]
    )


def weighted_sums(weights: Tensor, values: Tensor, owner: Tensor) -> Tensor:
    """(P, S) sums of weights (P, C) times the values (N, C, S) of each pair's owner (P,): Eq 3 of sm-LSTM."""
    return torch.stack(
        [
            torch.stack([p * value for p, value in zip(of_pair, values[n], strict=True)]).sum(dim=0)
            for of_pair, n in zip(weights, owner, strict=True)
        ]
    )


def scores_of_pairs(
    compare: Compare,
    images: tuple[Tensor, ...],
    sentences: tuple[Tensor, ...],
    image: Tensor,
    sentence: Tensor,
    longest: int,
) -> Tensor:
    """(P,) scores of pairs, computed one after the other."""
    pairs = zip(image.split(1), sentence.split(1), strict=True)
    return torch.cat([compare(images, sentences, i, s, longest) for i, s in pairs])

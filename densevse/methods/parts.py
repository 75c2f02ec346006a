"""Parts that several methods share: ranking losses, word vectors, mean regions, linear maps and last layers.

The losses are of a matrix of scores: row i matches column i, and other true pairs are never negatives.
"""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import batch_norm, normalize

from densevse.kernels.arrays import to_float32
from densevse.methods.interface import Images, Sentences, Shapes
from densevse.methods.parameters.vse import Negatives

WordVectors = Literal["learned", "fixed", "tuned"]

WHOLE_VIEWS = ("whole", "centre", "ten_crop")
"""The views of an image as one vector of a CNN."""

MeanOf = Literal["word_vectors", "word_shares"]


def whole_view(method: str, shapes: Shapes) -> tuple[str, int]:
    """The one view of whole images that a method reads, and its length. Raises `ValueError` if there are others."""
    if len(shapes.features) != 1 or not set(shapes.features) <= set(WHOLE_VIEWS):
        raise ValueError(f"`views` holds {sorted(shapes.features)}: {method} reads one of {', '.join(WHOLE_VIEWS)}")
    ((view, size),) = shapes.features.items()
    return view, size


def hinges(scores: Tensor, positives: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """The hinge of every contrastive pair, for both directions of the pairwise ranking loss (Kiros et al. 2014).

    `scores` (B, B) are those of every image (row) with every sentence (column), matched pairs on the diagonal;
    `positives` (B, B) marks the true pairs, which cost nothing, so that no caption of an image is its own contrastive
    term. Returns two (B, B) matrices of max(0, margin - matched + contrastive): images against contrastive sentences
    (compared with the row's matched pair), and sentences against contrastive images (with the column's).
    """
    matched = scores.diagonal()
    sentences = hinge(scores, matched.unsqueeze(1), positives, margin)
    return sentences, hinge(scores, matched.unsqueeze(0), positives, margin)


def hinge(scores: Tensor, matched: Tensor, positives: Tensor, margin: float) -> Tensor:
    """(N, M) max(0, margin - matched + contrastive), 0 at true pairs; `matched` has one score per row or column.

    A hinge of exactly 0 has no gradient; that of `clamp` is 1 there in torch 2.11, and 0 in 2.15.
    """
    return (margin - matched + scores).relu().masked_fill(positives, 0)


def sum_of_hinges(scores: Tensor, positives: Tensor, margin: float) -> Tensor:
    """The pairwise ranking loss: the sum over all contrastive sentences and images (Kiros et al. 2014)."""
    sentences, images = hinges(scores, positives, margin)
    return sentences.sum() + images.sum()


def hardest_hinges(scores: Tensor, positives: Tensor, margin: float) -> Tensor:
    """The max-of-hinges loss: each pair against its hardest contrastive terms only (Faghri et al. 2018, Eq 6)."""
    sentences, images = hinges(scores, positives, margin)
    return sentences.amax(dim=1).sum() + images.amax(dim=0).sum()


class RankingLoss(nn.Module):
    """The loss of a batch's scores that the parameter `negatives` names, summed over its pairs and both directions.

    Hinges learn nothing. A softmax and a sigmoid have a scale, the inverse of their temperature, which is learned as
    its logarithm and held at 100 at most (Radford et al., ICML 2021, section 2.5); a sigmoid also has a bias, which
    starts at -10 (Zhai et al., ICCV 2023, section 3.2). Both papers take means over the batch where this is a sum.
    """

    def __init__(self, negatives: Negatives, temperature: float) -> None:
        super().__init__()
        if negatives in ("softmax", "sigmoid"):
            self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)))
        if negatives == "sigmoid":
            self.bias = nn.Parameter(torch.tensor(-10.0))

    def forward(self, scores: Tensor, positives: Tensor, parameters: Any) -> Tensor:
        """A scalar of (B, B) scores and true pairs, with the `negatives` and the `margin` of the moment's parameters.

        Raises `ValueError` if a phase alone has a loss that learns, of which the model has no weights.
        """
        kind: Negatives = parameters.negatives
        if kind in ("sum", "hardest"):
            return {"sum": sum_of_hinges, "hardest": hardest_hinges}[kind](scores, positives, parameters.margin)
        if not hasattr(self, "bias" if kind == "sigmoid" else "log_scale"):
            raise ValueError(f"negatives: {kind} learns a temperature; set it in `parameters`, not in a phase alone")
        with torch.no_grad():  # the scale itself is held: beyond a clamp of its value it would learn no more
            self.log_scale.clamp_(max=math.log(100))
        scaled = scores * self.log_scale.exp()
        return softmax_loss(scaled, positives) if kind == "softmax" else sigmoid_loss(scaled + self.bias, positives)


def softmax_loss(logits: Tensor, positives: Tensor) -> Tensor:
    """InfoNCE (van den Oord et al. 2018, Eq 4) over rows and over columns: the sum over i of -log softmax(row i)_i.

    A true pair off the diagonal of (B, B) is in no softmax.
    """
    matched = torch.arange(len(logits), device=logits.device)
    others = positives & (matched[:, None] != matched)
    logits = logits.masked_fill(others, -torch.inf)
    return sum(functional.cross_entropy(side, matched, reduction="sum") for side in (logits, logits.T))  # type: ignore[return-value]


def sigmoid_loss(logits: Tensor, positives: Tensor) -> Tensor:
    """SigLIP's loss (Zhai et al. 2023, Eq 2): the sum of -log sigmoid(z_ij l_ij), z = 1 if matched, -1 if contrastive.

    A true pair off the diagonal of (B, B) is in no term.
    """
    return functional.softplus(-logits.diagonal()).sum() + functional.softplus(logits).masked_fill(positives, 0).sum()


def word_vectors(kind: WordVectors, dimension: int, shapes: Shapes) -> nn.Embedding:
    """(words, dimension) vectors: learned from random ones, or pre-trained, fixed or tuned.

    Padding has the zero vector, and so has the unknown word until training meets it. Learned vectors start small: a
    rare word nearly keeps its first vector, which should then say little. Raises `ValueError` if pre-trained vectors
    are wanted but none are given.
    """
    if kind == "learned":
        words = nn.Embedding(shapes.words, dimension, padding_idx=0)
        nn.init.uniform_(words.weight, -0.1, 0.1)
        nn.init.zeros_(words.weight.data[:2])
        return words
    if shapes.word_vectors is None:
        raise ValueError(f"parameters.word_vectors is {kind} but no pre-trained vectors were given")
    given: nn.Embedding = nn.Embedding.from_pretrained(
        shapes.word_vectors.clone(), freeze=kind == "fixed", padding_idx=0
    )
    return given


def mean_of_regions(images: Images) -> Tensor:
    """(I, D) the mean vector of the regions that each image has, the whole image among them."""
    present = images.present.unsqueeze(2)
    return (images.views["regions"] * present).sum(dim=1) / present.sum(dim=1)


POOLING_UNITS = 32
"""The numbers of a place's code and of the GRU's state, as in the authors' code."""


class GeneralisedPooling(nn.Module):
    """The generalised pooling operator (Chen et al., CVPR 2021): a weighted sum of each dimension's sorted values.

    A GRU in both directions reads the sinusoidal codes of the places 0 to n - 1, and a map of its mean state is the
    logit of a place; the temperature .1 is the authors' code's. So the weights depend on the number of vectors alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(POOLING_UNITS, POOLING_UNITS, batch_first=True, bidirectional=True)
        self.logit = nn.Linear(POOLING_UNITS, 1, bias=False)

    def place_weights(self, count: int) -> Tensor:
        """(count,) theta of Eq 5, which sum to 1."""
        like = self.logit.weight
        rates = torch.exp(torch.arange(0, POOLING_UNITS, 2).to(like) * (-math.log(10_000) / POOLING_UNITS))
        angles = torch.arange(count).to(like)[:, None] * rates
        codes = torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
        states = self.gru(codes[None])[0][0]
        return (self.logit(states.unflatten(1, (2, -1)).mean(dim=1)).squeeze(1) / 0.1).softmax(dim=0)  # type: ignore[no-any-return]

    def forward(self, vectors: Tensor, present: Tensor) -> Tensor:
        """(I, D) sums of (I, R, D) vectors, of which those that `present` (I, R) says are pooled, one or more each."""
        counts = present.sum(dim=1)
        weights = vectors.new_zeros(present.shape)
        for count in counts.unique().tolist():
            rows = (counts == count).nonzero().squeeze(1)
            padded = functional.pad(self.place_weights(count).to(vectors.dtype), (0, present.shape[1] - count))
            weights = weights.index_copy(0, rows, padded.expand(len(rows), -1))
        falling = vectors.masked_fill(~present.unsqueeze(2), -torch.inf).sort(dim=1, descending=True).values
        return torch.einsum("ir,ird->id", weights, falling.masked_fill(falling.isneginf(), 0))


def known_words(words: nn.Embedding) -> Tensor:
    """(words,) bool: false for padding, the unknown word and words without a pre-trained vector."""
    return (words.weight.detach() != 0).any(dim=1) & (torch.arange(words.num_embeddings) > 1)


class MeanWords(nn.Module):
    """The mean of a sentence's pre-trained word vectors, or the share of each word of the vocabulary in it.

    Unknown words and words without a vector are left out.
    """

    known: Tensor  # (words,) 1 for a word that counts, or 0

    def __init__(self, of: MeanOf, shapes: Shapes) -> None:
        """Raises `ValueError` if word vectors are wanted and not given."""
        super().__init__()
        self.words = word_vectors("fixed", 0, shapes) if of == "word_vectors" else None
        known = torch.arange(shapes.words) > 1 if self.words is None else known_words(self.words)
        self.register_buffer("known", known.float())
        self.length = shapes.words if self.words is None else self.words.embedding_dim

    def forward(self, sentences: Sentences) -> Tensor:
        """(S, length) means; zero for a sentence without any known word."""
        index = sentences["words"].index
        known = self.known[index]
        if self.words is None:
            total = known.new_zeros(index.shape[0], self.length).scatter_add_(1, index, known)
        else:
            total = torch.einsum("sw,swd->sd", known, self.words(index))
        return total / known.sum(dim=1, keepdim=True).clamp(min=1)


def xavier_linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map that starts with weights of Xavier's uniform distribution and biases of 0."""
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


class Branch(nn.Module):
    """A branch of HM-LSTM (section 3.2.2), which VSE can use too: fully connected, batch normalisation, unit norm."""

    def __init__(self, inputs: int, dimension: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, dimension)
        self.norm = nn.BatchNorm1d(dimension)

    def forward(self, x: Tensor, wholes: int | None = None) -> Tensor:
        """(n, dimension) vectors of unit norm, from (n, inputs).

        In training, batch normalisation takes its statistics from the first `wholes` rows (by default from all) and
        applies them to all rows. One row has no statistics: the running ones are used.
        """
        x, norm = to_float32(self.linear(x)), self.norm  # statistics need float32
        wholes = x.shape[0] if wholes is None else wholes  # `len` would fix it in an exported graph
        if not self.training or wholes == 1:
            x = batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps)
        else:
            variance, mean = torch.var_mean(x[:wholes], dim=0, correction=0)
            scale = norm.weight * torch.rsqrt(variance + norm.eps)
            x = torch.cat((norm(x[:wholes]), torch.addcmul(norm.bias, x[wholes:] - mean, scale)))
        return normalize(x, dim=1)

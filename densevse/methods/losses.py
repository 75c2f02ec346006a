"""Ranking losses on a matrix of scores: row i matches column i, and other true pairs are never negatives."""

from torch import Tensor, nn


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
    """(N, M) max(0, margin - matched + contrastive), 0 at true pairs; `matched` has one score per row or column."""
    return (margin - matched + scores).clamp(min=0).masked_fill(positives, 0)


def sum_of_hinges(scores: Tensor, positives: Tensor, margin: float) -> Tensor:
    """The pairwise ranking loss: the sum over all contrastive sentences and images (Kiros et al. 2014)."""
    sentences, images = hinges(scores, positives, margin)
    return sentences.sum() + images.sum()


def hardest_hinges(scores: Tensor, positives: Tensor, margin: float) -> Tensor:
    """The max-of-hinges loss: each pair against its hardest contrastive terms only (Faghri et al. 2018, Eq 6)."""
    sentences, images = hinges(scores, positives, margin)
    return sentences.amax(dim=1).sum() + images.amax(dim=0).sum()


def xavier_linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map that starts with weights of Xavier's uniform distribution and biases of 0."""
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear

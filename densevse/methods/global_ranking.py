"""The global ranking objective (DeFrag, Eq 7), and the base of the methods that DeFrag is compared with (section 4.1).

    C_G = sum_k [ sum_l max(0, S_kl - S_kk + Delta) + sum_l max(0, S_lk - S_kk + Delta) ]        (7)

In those methods an image is one vector, a sentence is one vector, and their score is the inner product. With the view
`whole` the image is the vector of its full frame. With `regions` it is the mean of the vectors of the detections whose
score is at least a threshold, and of the full frame (chosen, so that each image has one).
"""

import torch
from torch import Tensor, nn

from densevse.methods.interface import Batch, DualEncoder, Embeddings, Images, Moment, Shapes
from densevse.methods.parameters.defrag import GlobalRankingParameters
from densevse.methods.parts import RankingLoss


class GlobalRanking(RankingLoss):
    """C_G of Eq 7, or another loss of the scores S_kl."""

    def forward(self, scores: Tensor, positives: Tensor, parameters: GlobalRankingParameters) -> Tensor:
        """A scalar of (B, B) scores with matched pairs on the diagonal; true pairs (B, B) are no contrast.

        With `terms` mean it is the mean over the terms of both directions: contrastive pairs, or matched ones.
        """
        total = super().forward(scores, positives, parameters)
        terms = (~positives).sum() if parameters.negatives in ("sum", "sigmoid") else positives.diagonal().sum()
        return total if parameters.terms == "sum" else total / (2 * terms).clamp(min=1)


class FixedNorm(nn.Module):
    """Scales a CNN's vectors by one factor, so that those of training images have a given mean norm.

    The gradient of a linear map grows with the norm of its input, and so does its output: with SGD, one learning rate
    suits one norm only. R-CNN's code scales its features to a mean norm of 20 in the same way before its SVMs.
    """

    factor: Tensor

    def __init__(self, norm: float | None) -> None:
        """With `norm` None, vectors stay as they are."""
        super().__init__()
        self.norm = norm
        if norm is not None:
            self.register_buffer("factor", torch.ones(()))

    def measure(self, vectors: Tensor) -> None:
        """Sets the factor of a norm that is not None by the mean norm of (n, D) vectors.

        Raises `ValueError` if all of them are zero.
        """
        mean = torch.linalg.vector_norm(vectors, dim=1).mean()
        if not mean > 0:
            raise ValueError("parameters.feature_norm: the features of training images are all zero")
        self.factor.fill_(self.norm / mean)

    def forward(self, vectors: Tensor) -> Tensor:
        """(..., D) scaled vectors."""
        return vectors if self.norm is None else vectors * self.factor


class MeanRegion(DualEncoder):
    """The image branch, the score and the objective that these methods share."""

    def __init__(
        self, parameters: GlobalRankingParameters, shapes: Shapes, *, dimension: int, threshold: float
    ) -> None:
        super().__init__(parameters, shapes)
        (features,) = shapes.features.values()
        self.threshold = threshold
        self.fixed_norm = FixedNorm(parameters.feature_norm)
        self.image = nn.Linear(features, dimension)
        self.ranking = GlobalRanking(parameters.negatives, parameters.temperature)

    def measure(self, images: Images) -> None:
        """Measures the norm of mean activations."""
        if self.fixed_norm.norm is not None:
            self.fixed_norm.measure(mean_activation(images, self.threshold))

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) W_m applied to the mean activation."""
        return Embeddings(self.image(self.fixed_norm(mean_activation(images, self.threshold))))

    def loss(self, images: Embeddings, sentences: Embeddings, batch: Batch, moment: Moment) -> Tensor:
        """C_G of the batch: a scalar."""
        return self.ranking(self.score(images, sentences), batch.positives, moment.parameters)  # type: ignore[no-any-return]


def mean_activation(images: Images, threshold: float) -> Tensor:
    """(I, D) mean of the CNN's vectors of the full frame and the detections that score at least `threshold`."""
    if "whole" in images.views:
        return images.views["whole"]
    regions, counted = images.views["regions"], sure_regions(images, threshold)
    weights = counted.to(regions.dtype) / counted.sum(dim=1, keepdim=True)
    return torch.einsum("ir,ird->id", weights, regions)


def sure_regions(images: Images, threshold: float, least_detections: int = 0) -> Tensor:
    """(I, R) bool: the full frame and the detections that score at least `threshold`.

    The `least_detections` that score highest count in any case, as far as an image has them.
    """
    assert images.scores is not None  # a batch with regions always has their scores
    sure = images.scores >= threshold  # the full frame's score is infinite
    sure[:, : 1 + least_detections] = True  # detections are stored by descending score
    return images.present & sure

"""Canonical correlation analysis on mean word vectors (Klein et al., CVPR 2015, "Mean Vec"), in closed form.

x is an image's CNN vector and y the mean of its sentence's word vectors. Over all training pairs, with C_xx, C_yy and
C_xy their covariances,

    U S V^T = C_xx^(-1/2) C_xy C_yy^(-1/2),    W_x = C_xx^(-1/2) U S^p,    W_y = C_yy^(-1/2) V S^p

and a pair's score is the cosine of (x - mean x) W_x and (y - mean y) W_y. S holds the canonical correlations. Gong et
al. (IJCV 2014) weigh them by a power p, so that no number of dimensions must be chosen.

As chosen here: a share of the mean variance is added to the diagonals of C_xx and C_yy. Without pre-trained vectors, y
is the share of each word of the vocabulary in the sentence.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from densevse.methods.interface import Batch, DualEncoder, Embeddings, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.cca import Parameters
from densevse.methods.parts import MeanWords, whole_view


class CCA(DualEncoder):
    """Two linear maps into the space in which images and sentences correlate most. Encodings are of unit norm."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless one view of whole images is read, or if word vectors are wanted and not given."""
        super().__init__(parameters, shapes)
        self.view, size = whole_view("cca", shapes)
        self.mean_words = MeanWords(parameters.sentence, shapes)
        length = self.mean_words.length
        self.image = nn.Linear(size, min(size, length))
        self.sentence = nn.Linear(length, min(size, length))

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) maps of the CNN's vectors, of unit norm."""
        return Embeddings(normalize(self.image(images.views[self.view]), dim=1))

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) maps of the sentences' mean word vectors, of unit norm."""
        return Embeddings(normalize(self.sentence(self.mean_words(sentences)), dim=1))

    def fit(self, pairs: Iterable[tuple[Images, Sentences]]) -> None:
        """Computes both maps from the covariances of the training pairs, in float64."""
        sums = _Moments(self.image.in_features, self.sentence.in_features)
        for images, sentences in pairs:
            sums.add(images.views[self.view], self.mean_words(sentences))
        means, (of_images, of_sentences) = sums.means(), sums.maps(self.hyperparameters)
        with torch.no_grad():
            for layer, mean, weights in zip((self.image, self.sentence), means, (of_images, of_sentences), strict=True):
                layer.weight.copy_(weights.T)
                layer.bias.copy_(-mean @ weights)

    def loss(self, images: Any, sentences: Any, batch: Batch, moment: Moment) -> Tensor:
        """Raises `ValueError`: the maps are not trained further."""
        raise ValueError("cca has a closed form, and no phase trains it further: its `rounds` must be [[]]")


class _Moments:
    """The sums of x, y and of their products over pairs."""

    def __init__(self, of_image: int, of_sentence: int) -> None:
        size = of_image + of_sentence
        self._parts, self._count = (of_image, of_sentence), 0
        self._sum = torch.zeros(size, dtype=torch.float64)
        self._products = torch.zeros(size, size, dtype=torch.float64)

    def add(self, x: Tensor, y: Tensor) -> None:
        """Adds the pairs of the rows of (n, D) and (n, K)."""
        both = torch.cat((x, y), dim=1).double().cpu()
        self._count += len(both)
        self._sum += both.sum(dim=0)
        self._products.addmm_(both.T, both)

    def means(self) -> tuple[Tensor, Tensor]:
        """The means of x and of y."""
        of_images, of_sentences = torch.split(self._sum / self._count, list(self._parts))
        return of_images, of_sentences

    def maps(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        """W_x (D, dimension) and W_y (K, dimension)."""
        mean = self._sum / self._count
        covariance = self._products / self._count - torch.outer(mean, mean)
        first = self._parts[0]
        roots = [
            _inverse_root(block, parameters.ridge) for block in (covariance[:first, :first], covariance[first:, first:])
        ]
        u, correlations, v = torch.linalg.svd(roots[0] @ covariance[:first, first:] @ roots[1], full_matrices=False)
        weights = correlations**parameters.power
        return roots[0] @ u * weights, roots[1] @ v.T * weights


def _inverse_root(covariance: Tensor, ridge: float) -> Tensor:
    """C^(-1/2), with a share of the mean variance added to the diagonal; 0 for a covariance of 0."""
    variances, directions = torch.linalg.eigh(covariance)
    variances = variances.clamp(min=0) + ridge * variances.mean()
    scales = torch.where(variances > 0, variances.clamp(min=torch.finfo(torch.float64).tiny).rsqrt(), 0)
    root: Tensor = directions * scales @ directions.T
    return root


METHOD = CCA

"""DSPE: deep structure-preserving embeddings (Wang, Li, Lazebnik, CVPR 2016), a two-branch network.

x and y are two layers over an image's CNN vector and over a fixed vector of its sentence, each of unit norm:

    x = norm(W_2 drop(ReLU(BN(W_1 CNN + b_1))) + b_2)

With d their Euclidean distance and y_j a sentence of x_i (Eq 5),

    L =           sum_ijk max(0, m + d(x_i, y_j) - d(x_i, y_k))      y_k another image's sentence
       + lambda_1 sum_ijk max(0, m + d(x_i, y_j) - d(x_k, y_j))      x_k another image
       + lambda_3 sum_ijk max(0, m + d(y_i, y_j) - d(y_i, y_k))      y_i and y_j of one image, y_k of another

The last keeps the sentences of an image together, so a batch needs several of them (`training.siblings`). As in the
authors' code: each sum is the mean over the K largest terms of a sentence; the last one compares with the farthest
y_j alone; the term in lambda_2, of images with a common sentence, is left out, as no two images have one.

As chosen here: the sentence's vector is the mean of its word vectors, or its words' shares, in place of the paper's
Fisher vectors. Scores are cosines, which rank as these distances do.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from densevse.methods.interface import Batch, DualEncoder, Embeddings, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.dspe import Parameters
from densevse.methods.parts import MeanWords, hinge, whole_view


class DSPE(DualEncoder):
    """The embedding network. Encodings are of unit norm."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless one view of whole images is read, or if word vectors are wanted and not given."""
        super().__init__(parameters, shapes)
        self.view, size = whole_view("dspe", shapes)
        self.mean_words = MeanWords(parameters.sentence, shapes)
        self.image = _layers(size, parameters)
        self.sentence = _layers(self.mean_words.length, parameters)

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) x."""
        return Embeddings(normalize(self.image(images.views[self.view]), dim=1))

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) y."""
        return Embeddings(normalize(self.sentence(self.mean_words(sentences)), dim=1))

    def loss(self, images: Embeddings, sentences: Embeddings, batch: Batch, moment: Moment) -> Tensor:
        """L of Eq 5, a scalar."""
        parameters: Parameters = moment.parameters
        same, x, y = batch.positives, images.vectors, sentences.vectors
        distances = _distances(x, y)
        matched = distances.diagonal()
        # An image that is in the batch with several sentences is one contrastive image.
        again = same.int().argmax(dim=1) != torch.arange(len(same), device=same.device)
        other_sentences = hinge(-distances, -matched.unsqueeze(1), same, parameters.margin)
        other_images = hinge(-distances, -matched.unsqueeze(0), same | again.unsqueeze(1), parameters.margin)
        loss = _mean_of_largest(other_sentences, parameters.largest) + parameters.lambda_1 * _mean_of_largest(
            other_images.T, parameters.largest
        )
        return loss + parameters.lambda_3 * self._structure_loss(y, same, parameters)

    def _structure_loss(self, y: Tensor, same: Tensor, parameters: Parameters) -> Tensor:
        """The neighbourhood of sentences: those of the same image are nearer than others. 0 if no image has two."""
        siblings = same & ~torch.eye(len(same), dtype=torch.bool, device=same.device)
        distances = _distances(y, y)
        farthest = distances.masked_fill(~siblings, 0).amax(dim=1, keepdim=True)
        alone = ~siblings.any(dim=1, keepdim=True)
        hinges = hinge(-distances, -farthest, same | alone, parameters.margin)
        return _mean_of_largest(hinges, parameters.largest) * len(same) / (~alone).sum().clamp(min=1)


def _layers(size: int, parameters: Parameters) -> nn.Sequential:
    """A branch of the network, before its unit norm."""
    return nn.Sequential(
        nn.Linear(size, parameters.hidden),
        nn.BatchNorm1d(parameters.hidden),
        nn.ReLU(),
        nn.Dropout(parameters.dropout),
        nn.Linear(parameters.hidden, parameters.dimension),
    )


def _distances(x: Tensor, y: Tensor) -> Tensor:
    """(N, M) Euclidean distances of vectors of unit norm. The added 1e-4 is the authors', for a gradient at 0."""
    return (2 - 2 * x @ y.T + 1e-4).clamp(min=1e-6).sqrt()


def _mean_of_largest(hinges: Tensor, number: int) -> Tensor:
    """The mean over rows of the mean of a row's largest terms, a scalar."""
    return hinges.topk(min(number, hinges.shape[1]), dim=1).values.mean()


METHOD = DSPE

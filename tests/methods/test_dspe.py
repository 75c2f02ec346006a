"""DSPE, against plain loops over pairs and triplets."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import normalize

from densevse.methods.dspe import DSPE
from densevse.methods.interface import Batch, Embeddings, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.dspe import Parameters
from densevse.methods.structures import Words

WORDS, SIZE = 9, 6
PARAMETERS = {"sentence": "word_shares", "dimension": 4, "hidden": 5, "margin": 0.7, "largest": 2}
IMAGE_OF = torch.tensor([0, 0, 1, 1, 1, 2, 3])  # the image of each sentence; two images have one sentence


def build(**parameters):
    torch.manual_seed(0)
    return DSPE(Parameters(**{**PARAMETERS, **parameters}), Shapes({"whole": SIZE}, WORDS)).double()


def batch_of(image_of=IMAGE_OF):
    random = torch.Generator().manual_seed(1)
    views = torch.randn(int(image_of.max()) + 1, SIZE, generator=random, dtype=torch.float64)[image_of]
    index = torch.randint(2, WORDS, (len(image_of), 4), generator=random)
    words = Sentences({"words": Words(index, torch.full((len(image_of),), 4))})
    present = torch.ones(len(image_of), 0, dtype=torch.bool)
    return Batch(Images({"whole": views}, present), words, image_of[:, None] == image_of[None, :])


def outputs(count, seed):
    """Outputs of a branch before their unit norm."""
    random = torch.Generator().manual_seed(seed)
    return torch.randn(count, 4, generator=random, dtype=torch.float64).requires_grad_()


def distance(a, b):
    return (((a - b) ** 2).sum() + 1e-4).sqrt()


def mean_of_largest(rows, number):
    """The mean over rows of the mean of a row's largest hinges, where a row has at least so many."""
    means = [sum(sorted(row, reverse=True)[:number]) / number for row in rows]
    return sum(means) / len(means)


def literal_loss(x, y, image_of, p):
    """Eq 5 by loops over pairs; images are counted once."""
    zero, pairs = torch.zeros((), dtype=torch.float64), range(len(image_of))
    first = [int((image_of == image).nonzero()[0]) for image in image_of.unique()]
    sentences, images, structure = [], [], []
    for i in pairs:
        matched = distance(x[i], y[i])
        other = [k for k in pairs if image_of[k] != image_of[i]]
        sentences.append([(p.margin + matched - distance(x[i], y[k])).clamp(min=0) for k in other])
        images.append([(p.margin + matched - distance(x[k], y[i])).clamp(min=0) for k in other if k in first])
        siblings = [k for k in pairs if image_of[k] == image_of[i] and k != i]
        if siblings:
            farthest = max(distance(y[i], y[k]) for k in siblings)
            structure.append([(p.margin + farthest - distance(y[i], y[k])).clamp(min=0) for k in other])
    loss = mean_of_largest(sentences, p.largest) + p.lambda_1 * mean_of_largest(images, p.largest)
    return loss + p.lambda_3 * (mean_of_largest(structure, p.largest) if structure else zero)


@pytest.mark.parametrize("image_of", [IMAGE_OF, torch.arange(5)], ids=["siblings", "alone"])
def test_the_loss_is_that_of_the_definition(image_of):
    method, batch = build(lambda_3=0.5), batch_of(image_of)
    found, expected = ([outputs(len(image_of), seed) for seed in (2, 3)] for _ in range(2))
    moment = Moment(1, "main", method.hyperparameters)
    loss = method.loss(*(Embeddings(normalize(part, dim=1)) for part in found), batch, moment)
    literal = literal_loss(*(normalize(part, dim=1) for part in expected), image_of, method.hyperparameters)
    torch.testing.assert_close(loss, literal)
    loss.backward()
    literal.backward()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_the_neighbourhood_adds_to_the_loss():
    batch = batch_of()
    vectors = [Embeddings(normalize(outputs(len(IMAGE_OF), seed), dim=1)) for seed in (2, 3)]
    losses = []
    for weight in (0, 1):
        method = build(lambda_3=weight)
        losses.append(method.loss(*vectors, batch, Moment(1, "main", method.hyperparameters)).item())
    assert losses[1] > losses[0] + 0.1


def test_the_branches_are_those_of_the_definition():
    method, batch = build(dropout=0.0).eval(), batch_of()
    for branch in (method.image, method.sentence):
        nn.init.normal_(branch[1].running_mean)
        nn.init.uniform_(branch[1].running_var, 0.5, 2)
    with torch.inference_mode():
        found = [method.encode_images(batch.images).vectors, method.encode_sentences(batch.sentences).vectors]
    shares = np.zeros((len(IMAGE_OF), WORDS))
    for row, words in enumerate(batch.sentences["words"].index):
        for word in words:
            shares[row, word] += 1 / 4
    for branch, read, vectors in zip(
        (method.image, method.sentence), (batch.images.views["whole"].numpy(), shares), found, strict=True
    ):
        state = {name: value.numpy() for name, value in branch.state_dict().items()}
        hidden = read @ state["0.weight"].T + state["0.bias"]
        hidden = (hidden - state["1.running_mean"]) / np.sqrt(state["1.running_var"] + 1e-5)
        hidden = np.maximum(hidden * state["1.weight"] + state["1.bias"], 0)
        out = hidden @ state["4.weight"].T + state["4.bias"]
        np.testing.assert_allclose(vectors, out / np.linalg.norm(out, axis=1, keepdims=True))


def test_other_views_are_refused():
    with pytest.raises(ValueError, match="dspe reads one of whole, centre, ten_crop"):
        DSPE(Parameters(**PARAMETERS), Shapes({"whole": 5, "regions": 5}, WORDS))

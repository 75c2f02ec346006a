"""Images, sentences and small models for tests of ranking by the likelihood of a sentence."""

import torch
from torch.nn import functional

from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.structures import words_from_index
from densevse.models.files import build_method
from tests.gradients import assert_same

SHAPES = Shapes({"whole": 6}, words=9)
INDEX = torch.tensor([[2, 3, 4, 5], [6, 2, 0, 0], [2, 3, 0, 0], [7, 0, 0, 0], [2, 3, 8, 0]])


def images(count, seed):
    vectors = torch.randn(count, 6, generator=torch.Generator().manual_seed(seed)).double()
    return Images({"whole": vectors}, torch.ones(count, 0, dtype=torch.bool))


TEST, TRAINING = images(2, 1), images(3, 2)


def sentences(index=INDEX):
    return Sentences({"words": words_from_index(index.numpy(), torch.device("cpu"))})


def small(name, **sizes):
    """A method of random weights, biases too, that keeps the training images."""
    torch.manual_seed(0)
    made = build_method(name, {"marginal_images": 3, **sizes}, SHAPES).double()
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    made.measure(TRAINING)
    return made


def scores(method, of=TEST, index=INDEX):
    return method.score(method.encode_images(of), method.encode_sentences(sentences(index)))


def table(method, literal, of=TEST):
    """(I, S) log p by `literal`, which takes the method, a scaled image and the words of a sentence."""
    return torch.stack(
        [torch.stack([literal(method, vector, row) for row in _rows()]) for vector in _scaled(of.views["whole"])]
    )


def assert_scores_are(method, literal):
    """Compares the scores with those that a definition of log p gives, less the log of its mean over TRAINING."""
    p_of_sentences = table(method, literal, TRAINING).exp().mean(dim=0)
    torch.testing.assert_close(scores(method), table(method, literal) - p_of_sentences.log())


def assert_loss_is(method, literal):
    """The loss of a batch, in which an image is twice, and its gradients are those of `literal`."""
    owner = torch.tensor([0, 1, 1, 0])
    matched = Images({"whole": TEST.views["whole"][owner]}, TEST.present[owner])
    batch = Batch(matched, sentences(INDEX[:4]), owner[:, None] == owner)
    found = method.loss(*method.encode_batch(batch), batch, Moment(1, "main", method.hyperparameters))
    pairs = zip(_scaled(matched.views["whole"]), _rows()[:4], strict=True)
    assert_same(found, -sum(literal(method, vector, row) for vector, row in pairs) / 4, list(method.parameters()))


def _scaled(vectors):
    return [functional.layer_norm(vector, vector.shape) for vector in vectors]


def _rows():
    return [[word for word in row if word] for row in INDEX.tolist()]

"""CCA, against the eigenvalue problem of its definition."""

import numpy as np
import pytest
import scipy.linalg
import torch

from densevse.methods.cca import CCA
from densevse.methods.interface import Images, Moment, Sentences, Shapes
from densevse.methods.parameters.cca import Parameters
from densevse.methods.structures import Words

WORDS, LENGTH, SIZE, PAIRS = 9, 4, 6, 400
VECTORS = torch.cat(
    (torch.zeros(2, LENGTH), torch.randn(WORDS - 2, LENGTH, generator=torch.Generator().manual_seed(0)))
)


def build(**parameters):
    shapes = Shapes({"whole": SIZE}, WORDS, VECTORS)
    return CCA(Parameters(**{"ridge": 1e-9, **parameters}), shapes).double()


def pairs(noise=0.5):
    """Random sentences of 1 to 5 words, and images that depend on their mean word vector."""
    random = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 6, (PAIRS,), generator=random)
    index = torch.randint(1, WORDS, (PAIRS, 5), generator=random)  # 1 is the unknown word
    index[:, 0] = torch.randint(2, WORDS, (PAIRS,), generator=random)
    index = index * (torch.arange(5) < lengths[:, None])
    known = (index > 1).double()
    y = torch.einsum("sw,swd->sd", known, VECTORS.double()[index]) / known.sum(1, keepdim=True)
    x = y @ torch.randn(LENGTH, SIZE, generator=random).double()
    x = x + noise * torch.randn(PAIRS, SIZE, generator=random).double() + 3
    return x, y, Sentences({"words": Words(index, lengths)})


def images_of(x):
    return Images({"whole": x}, torch.ones(len(x), 0, dtype=torch.bool))


def fitted(x, sentences, parts=1, **parameters):
    method, words = build(**parameters), sentences["words"]
    rows = torch.arange(len(x)).chunk(parts)
    method.fit(
        (images_of(x[some]), Sentences({"words": Words(words.index[some], words.lengths[some])})) for some in rows
    )
    return method


def literal_scores(x, y, power):
    """Cosines of projections on the directions that solve the generalised eigenvalue problem, weighed."""
    x, y = (side.numpy() - side.numpy().mean(0) for side in (x, y))
    c_xx, c_yy, c_xy = x.T @ x / len(x), y.T @ y / len(y), x.T @ y / len(x)
    squares, directions = scipy.linalg.eigh(c_xy.T @ np.linalg.inv(c_xx) @ c_xy, c_yy)
    correlations = np.sqrt(squares)
    of_images = np.linalg.inv(c_xx) @ c_xy @ directions / correlations
    x, y = x @ of_images * correlations**power, y @ directions * correlations**power
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y)]
    return unit[0] @ unit[1].T


@pytest.mark.parametrize("power", [0.0, 4.0])
@pytest.mark.parametrize("parts", [1, 7])
def test_scores_are_those_of_the_definition(power, parts):
    x, y, sentences = pairs()
    method = fitted(x, sentences, parts, power=power)
    with torch.inference_mode():
        scores = method.score(method.encode_images(images_of(x)), method.encode_sentences(sentences))
    np.testing.assert_allclose(scores, literal_scores(x, y, power), atol=1e-6)


def test_without_noise_each_sentence_finds_its_image():
    x, y, sentences = pairs(noise=0)
    method = fitted(x, sentences, ridge=1e-6)
    with torch.inference_mode():
        scores = method.score(method.encode_images(images_of(x)), method.encode_sentences(sentences))
    best = scores.argmax(dim=0)
    assert torch.allclose(y[best], y, atol=1e-2)  # sentences of the same words have the same mean


def test_words_without_vectors_are_counted():
    x, _, sentences = pairs()
    method = build(sentence="word_shares")
    index = torch.tensor([[2, 2, 3, 1], [4, 0, 0, 0], [1, 0, 0, 0]])
    shares = method.mean_words(Sentences({"words": Words(index, torch.tensor([4, 1, 1]))}))
    expected = torch.zeros(3, WORDS)
    expected[0, 2], expected[0, 3], expected[1, 4] = 2 / 3, 1 / 3, 1
    torch.testing.assert_close(shares.double(), expected.double())
    method = fitted(x, sentences, sentence="word_shares", ridge=0.01)
    vectors = method.encode_sentences(sentences).vectors
    assert vectors.shape == (PAIRS, SIZE)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(PAIRS).double())


@pytest.mark.parametrize("views", [{"regions": 5}, {"whole": 5, "ten_crop": 5}])
def test_other_views_are_refused(views):
    with pytest.raises(ValueError, match="cca reads one of whole, centre, ten_crop"):
        CCA(Parameters(), Shapes(views, WORDS, VECTORS))


def test_it_is_not_trained_further():
    method, moment = build(), Moment(1, "main", Parameters())
    with pytest.raises(ValueError, match=r"its `rounds` must be \[\[\]\]"):
        method.loss(None, None, None, moment)

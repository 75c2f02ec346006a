"""DeepVS, against plain loops over regions and words."""

import pytest
import torch
from torch.nn import functional

from densevse.methods.deepvs import DeepVS
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.deepvs import Parameters
from densevse.methods.structures import words_from_index

SIZES = {"dimension": 5, "hidden": 4, "word_dimension": 3, "word_vectors": "learned", "dropout": 0}
REGIONS, WORDS = [4, 1, 3], 9
INDEX = torch.tensor([[2, 3, 4, 5], [6, 2, 0, 0], [7, 0, 0, 0], [3, 8, 2, 0]])


def build(**parameters):
    torch.manual_seed(0)
    method = DeepVS(Parameters(**SIZES, **parameters), Shapes({"regions": 6}, WORDS)).double()
    for weights in method.parameters():  # biases too
        torch.nn.init.normal_(weights, std=0.5)
    return method


def images():
    present = torch.arange(max(REGIONS)) < torch.tensor(REGIONS)[:, None]
    views = torch.randn(len(REGIONS), max(REGIONS), 6, generator=torch.Generator().manual_seed(1)).double()
    return Images({"regions": views}, present)


def sentences(index=INDEX):
    return Sentences({"words": words_from_index(index.numpy(), torch.device("cpu"))})


def literal_states(method, words):
    """s of each word of one sentence, Eq 2 to 6."""
    brnn = method.sentence
    (w_f, w_b), (b_f, b_b) = brnn.weight.transpose(1, 2), brnn.bias[:, 0]
    e = [functional.relu(brnn.input.weight @ method.words.weight[word] + brnn.input.bias) for word in words]
    forwards, backwards, state = [], [], torch.zeros(4).double()
    for e_t in e:
        state = functional.relu(e_t + w_f @ state + b_f)
        forwards.append(state)
    state = torch.zeros(4).double()
    for e_t in reversed(e):
        state = functional.relu(e_t + w_b @ state + b_b)
        backwards.insert(0, state)
    both = [f + b for f, b in zip(forwards, backwards, strict=True)]
    return [functional.relu(brnn.output.weight @ h + brnn.output.bias) for h in both]


def literal_products(method, image, words):
    """v_i . s_t of each word t of a sentence and each region i of an image, Eq 1."""
    regions = images().views["regions"][image, : REGIONS[image]]
    v = [method.image.weight @ region + method.image.bias for region in regions]
    return [[(v_i @ s_t).item() for v_i in v] for s_t in literal_states(method, words)]


def literal_scores(method):
    """S of Eq 8."""
    spoken = [[word for word in row if word] for row in INDEX.tolist()]
    found = [[sum(map(max, literal_products(method, k, words))) for words in spoken] for k in range(len(REGIONS))]
    return torch.tensor(found, dtype=torch.float64)


def test_scores_are_those_of_the_definition():
    method = build()
    found = method.score(method.encode_images(images()), method.encode_sentences(sentences()))
    torch.testing.assert_close(found, literal_scores(method))


@pytest.mark.parametrize("terms", ["sum", "mean"])
def test_the_loss_is_that_of_the_definition(terms):
    method = build(terms=terms)
    index, positives = INDEX[[0, 1, 3]], torch.eye(3, dtype=torch.bool)
    positives[0, 1] = positives[1, 0] = True
    batch = Batch(images(), sentences(index), positives)
    found = method.loss(*method.encode_batch(batch), batch, Moment(1, "main", method.hyperparameters))
    s = literal_scores(method)[:, [0, 1, 3]]
    others = (~positives).nonzero().tolist()
    hinges = [max(0, s[i, j] - s[i, i] + 1) + max(0, s[j, i] - s[i, i] + 1) for i, j in others]
    expected = sum(hinges) / (1 if terms == "sum" else 2 * len(others))
    torch.testing.assert_close(found, expected)


def test_the_saliency_of_a_word_is_its_best_region():
    method = build()
    image, sentence = torch.tensor([0, 2, 1]), torch.tensor([0, 1, 3])
    encoded = method.encode_images(images()), method.encode_sentences(sentences())
    found = method.saliency(*encoded, image, sentence)
    for pair, (k, row) in enumerate(zip(image.tolist(), sentence.tolist(), strict=True)):
        products = literal_products(method, k, [word for word in INDEX[row].tolist() if word])
        best = torch.tensor([of_word.index(max(of_word)) for of_word in products])
        assert found.places[: len(products), pair].equal(functional.one_hot(best, max(REGIONS)).double())
        assert found.words[: len(products), pair].equal(torch.eye(len(products), INDEX.shape[1]).double())
        assert not found.places[len(products) :, pair].any()
        assert not found.words[len(products) :, pair].any()


def test_padding_changes_no_score():
    method = build()
    wider = functional.pad(INDEX, (0, 3))
    encoded = method.encode_images(images())
    expected = method.score(encoded, method.encode_sentences(sentences()))
    torch.testing.assert_close(method.score(encoded, method.encode_sentences(sentences(wider))), expected)


@pytest.mark.parametrize("views", [{"whole": 6}, {"regions": 6, "whole": 6}])
def test_other_views_are_refused(views):
    with pytest.raises(ValueError, match="deepvs reads the view regions alone"):
        DeepVS(Parameters(**SIZES), Shapes(views, WORDS))

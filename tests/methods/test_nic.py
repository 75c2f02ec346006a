"""NIC, against plain loops over images, sentences and words."""

import pytest
import torch
from torch.nn import functional

from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.nic import NIC
from densevse.methods.parameters.nic import Parameters
from densevse.methods.structures import words_of
from tests.gradients import assert_same

SIZES = {"dimension": 5, "word_dimension": 4, "marginal_images": 3}
VIEW, WORDS = 6, 9
INDEX = torch.tensor([[2, 3, 4, 5], [6, 2, 0, 0], [2, 3, 0, 0], [7, 0, 0, 0], [2, 3, 8, 0]])


def images(count, seed):
    vectors = torch.randn(count, VIEW, generator=torch.Generator().manual_seed(seed)).double()
    return Images({"whole": vectors}, torch.ones(count, 0, dtype=torch.bool))


TEST, TRAINING = images(2, 1), images(3, 2)


@pytest.fixture
def method():
    torch.manual_seed(0)
    made = NIC(Parameters(**SIZES), Shapes({"whole": VIEW}, WORDS)).double()
    for weights in made.parameters():  # biases too
        torch.nn.init.normal_(weights, std=0.5)
    made.measure(TRAINING)
    return made


def sentences(index=INDEX):
    return Sentences({"words": words_of(index.numpy(), torch.device("cpu"))})


def literal(method, vector, row):
    """log p of a sentence, Eq 10 to 13: one step of the LSTM after the other."""
    decoder = method.decoder
    lstm, f = decoder.recurrent, decoder.words.weight
    image = method.image.weight @ functional.layer_norm(vector, vector.shape) + method.image.bias
    words = [word for word in row if word]
    hidden = memory = torch.zeros(SIZES["dimension"]).double()
    total = 0.0
    for x, following in zip([image, decoder.start, *(f[word] for word in words)], [None, *words, 0], strict=True):
        gates = lstm.weight_input @ x + lstm.weight_hidden @ hidden + lstm.bias_input
        inner, forget, outer, candidate = gates.chunk(4)
        memory = forget.sigmoid() * memory + inner.sigmoid() * candidate.tanh()
        hidden = outer.sigmoid() * memory.tanh()
        if following is not None:
            p = functional.softmax(f @ (decoder.project.weight @ hidden) + decoder.bias, dim=0)
            total = total + p[following].log()
    return total


def literal_table(method, of):
    return torch.stack(
        [torch.stack([literal(method, vector, row) for row in INDEX.tolist()]) for vector in of.views["whole"]]
    )


def test_scores_are_those_of_the_definition(method):
    found = method.score(method.encode_images(TEST), method.encode_sentences(sentences()))
    p_of_sentences = literal_table(method, TRAINING).exp().mean(dim=0)
    torch.testing.assert_close(found, literal_table(method, TEST) - p_of_sentences.log())


def test_a_sentence_ranks_images_by_its_likelihood_alone(method):
    found = method.score(method.encode_images(TEST), method.encode_sentences(sentences()))
    assert found.argsort(dim=0).equal(literal_table(method, TEST).argsort(dim=0))
    assert not found.argsort(dim=1).equal(literal_table(method, TEST).argsort(dim=1))


def test_the_loss_and_its_gradient_are_those_of_the_definition(method):
    rows = torch.tensor([0, 1, 1, 0])
    matched = Images({"whole": TEST.views["whole"][rows]}, TEST.present[rows])
    batch = Batch(matched, sentences(INDEX[:4]), rows[:, None] == rows)
    found = method.loss(*method.encode_batch(batch), batch, Moment(1, "main", method.hyperparameters))
    pairs = zip(matched.views["whole"], INDEX.tolist(), strict=False)
    expected = -sum(literal(method, vector, row) for vector, row in pairs) / len(rows)
    assert_same(found, expected, list(method.parameters()))


def test_padding_changes_no_score(method):
    encoded = method.encode_images(TEST)
    expected = method.score(encoded, method.encode_sentences(sentences()))
    found = method.score(encoded, method.encode_sentences(sentences(functional.pad(INDEX, (0, 3)))))
    torch.testing.assert_close(found, expected)


def test_the_training_images_are_a_part_of_the_model(method):
    loaded = NIC(Parameters(**SIZES), Shapes({"whole": VIEW}, WORDS)).double()
    loaded.load_state_dict(method.state_dict())
    assert loaded.encode_sentences(sentences()).marginal.equal(method.encode_sentences(sentences()).marginal)


def test_kept_images_are_spread_over_those_that_are_given(method):
    method.measure(images(5, 3))
    assert method.marginal_images.equal(images(5, 3).views["whole"][[0, 2, 4]])


@pytest.mark.parametrize("views", [{"regions": 6}, {"whole": 6, "ten_crop": 6}])
def test_other_views_are_refused(views):
    with pytest.raises(ValueError, match="NIC reads one of whole, centre, ten_crop"):
        NIC(Parameters(**SIZES), Shapes(views, WORDS))

"""SCO against its equations, one image and one sentence at a time, in double precision."""

import pytest
import torch
from torch.nn import functional

from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.sco import Parameters
from densevse.methods.sco import SCO
from densevse.methods.structures import Words

WORDS, H = 9, 6
SIZES = {"whole": 5, "ten_crop": 5, "grid": 5, "concepts": 4, "concepts_whole": 4, "regions": 5}
SENTENCES = [[2, 3, 4], [5], [2, 3, 6, 7]]


def make(views=("ten_crop", "concepts"), **changes):
    torch.manual_seed(0)
    shapes = Shapes({view: SIZES[view] for view in views}, WORDS)
    return SCO(Parameters(**{"dimension": H, "word_dimension": 3, **changes}), shapes).double()


def batch(views=("ten_crop", "concepts")):
    random = torch.Generator().manual_seed(1)
    given = {view: torch.rand(3, SIZES[view], dtype=torch.double, generator=random) for view in views}
    longest = max(map(len, SENTENCES))
    index = torch.tensor([[*words, *[0] * (longest - len(words))] for words in SENTENCES])
    words = Words(index, torch.tensor([len(words) for words in SENTENCES]))
    images = Images(given, torch.ones(3, 0, dtype=torch.bool))
    return Batch(images, Sentences({"words": words}), torch.eye(3, dtype=torch.bool), None)


def loss_of(model, given):
    return model.loss(*model.encode_batch(given), given, Moment(1, "only", model.hyperparameters))


def unit(vector):
    return vector / vector.norm()


def literal_v(model, p, x):
    """Eq 2 as printed."""
    fusion, x = model.image, unit(x)
    p_hat, x_hat = unit(fusion.w_l.weight @ p), unit(fusion.w_g.weight @ x)
    t = torch.sigmoid(fusion.u_l.weight @ p + fusion.u_g.weight @ x)
    return t * p_hat + (1 - t) * x_hat


def literal_loss(model, given, lambda_, m=0.2):
    views = given.images.views
    v = [literal_v(model, p, x) for p, x in zip(views["concepts"], views["ten_crop"], strict=True)]
    (s,) = model.encode_sentences(given.sentences)
    scores = [[functional.cosine_similarity(image, sentence, dim=0) for sentence in s] for image in v]
    total = 0.0
    for i in range(3):
        for k in range(3):
            if k != i:
                total = total + (m - scores[i][i] + scores[i][k]).clamp(min=0)
                total = total + (m - scores[i][i] + scores[k][i]).clamp(min=0)
    if lambda_:
        words = given.sentences["words"]
        total = total + lambda_ * model.decoder.negative_log_likelihood(torch.stack(v), words).sum()
    return total


@pytest.mark.parametrize("lambda_", [0.0, 0.01, 1.0])
def test_loss_is_eq_4(lambda_):
    model, given = make(generation_weight=lambda_), batch()
    assert torch.allclose(loss_of(model, given), literal_loss(model, given, lambda_))


def test_scores_are_cosines():
    model, given = make(), batch()
    images, sentences = model.encode_images(given.images), model.encode_sentences(given.sentences)
    v = literal_v(model, given.images.views["concepts"][1], given.images.views["ten_crop"][1])
    assert torch.allclose(model.score(images, sentences)[1, 2], functional.cosine_similarity(v, sentences[0][2], dim=0))


def test_the_sum_of_table_1_has_no_gate():
    model, given = make(fusion="sum", generation_weight=0.0), batch()
    (found,) = model.encode_images(given.images)
    p, x = given.images.views["concepts"][0], given.images.views["ten_crop"][0]
    assert torch.allclose(found[0], unit(unit(model.image.w_l.weight @ p) + unit(model.image.w_g.weight @ unit(x))))
    assert not hasattr(model.image, "u_g")


@pytest.mark.parametrize("view", ["whole", "ten_crop", "concepts", "concepts_whole"])
def test_one_side_alone(view):
    model, given = make((view,)), batch((view,))
    loss_of(model, given).backward()
    assert all(weight.grad is not None for weight in model.parameters())


@pytest.mark.parametrize(
    "views", [("whole", "ten_crop"), ("concepts", "concepts_whole"), ("whole", "ten_crop", "concepts"), ("grid",)]
)
def test_views_that_do_not_fit_are_refused(views):
    with pytest.raises(ValueError, match="one of whole, centre, ten_crop, one of concepts, concepts_whole, regions"):
        make(views)


def test_a_control_reads_the_mean_vector_of_the_regions_that_exist():
    model = make(("ten_crop", "regions"), generation_weight=0.0)
    x, regions = torch.rand(2, 5).double(), torch.rand(2, 3, 5).double()
    present = torch.tensor([[True, True, True], [True, True, False]])
    found = model.encode_images(Images({"ten_crop": x, "regions": regions}, present)).vectors
    for row, existing in enumerate((regions[0], regions[1, :2])):
        assert torch.allclose(found[row], unit(literal_v(model, unit(existing.mean(dim=0)), x[row])))


def test_shared_words_have_one_matrix_and_own_words_two():
    shared, own = make(words="shared"), make(words="own")
    assert shared.decoder.words is shared.words
    assert own.decoder.words is not own.words


def test_without_generation_there_is_no_decoder():
    assert make(generation_weight=0.0).decoder is None


def test_the_paper_reads_at_most_fifty_words():
    model = make()
    long = Sentences({"words": Words(torch.full((1, 300), 3), torch.tensor([300]))})
    cut = Sentences({"words": Words(torch.full((1, 50), 3), torch.tensor([50]))})
    assert torch.allclose(model.encode_sentences(long)[0], model.encode_sentences(cut)[0])


def test_scheduled_sampling_is_told_by_the_phase():
    model, given = make(), batch()
    torch.manual_seed(0)
    taught = loss_of(model, given)
    moment = Moment(5, "sampling", model.hyperparameters.model_copy(update={"sampled": 1.0}))
    assert not torch.allclose(model.loss(*model.encode_batch(given), given, moment), taught)


def test_an_image_is_the_last_state_of_the_lstm_over_its_written_sentence():
    """ctx + sen: a literal LSTM, word by word, with the weights of the image's side and not of the sentences'."""
    torch.manual_seed(0)
    shapes = Shapes({"generated_captions": 1}, WORDS)
    method = SCO(Parameters(dimension=5, word_dimension=4, generation_weight=0.0), shapes).double().eval()
    written = torch.tensor([[3, 5, 2], [4, 0, 0]])
    found = method.encode_images(Images({"generated_captions": written}, torch.ones(2, 0, dtype=torch.bool)))[0]
    side = method.image
    for row, words in enumerate([[3, 5, 2], [4]]):
        hidden = memory = torch.zeros(5, dtype=torch.double)
        for word in words:
            gates = side.sentence.weight_input @ side.words.weight[word] + side.sentence.bias_input
            i, f, o, g = (gates + side.sentence.weight_hidden @ hidden).chunk(4)
            memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * memory.tanh()
        assert torch.allclose(found[row], hidden / hidden.norm())
    assert side.words is not method.words

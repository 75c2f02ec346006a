from dataclasses import replace

import pytest
import torch

from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.vse import Parameters
from densevse.methods.structures import Words
from densevse.methods.vse import VSE

SMALL = {"dimension": 8, "word_dimension": 6}
SHAPES = Shapes({"whole": 5}, 10, torch.randn(10, 6, generator=torch.Generator().manual_seed(0)))
ENCODERS = ["lstm", "gru", "bag_of_words", "linear"]


def make(**changes):
    torch.manual_seed(0)
    return VSE(Parameters(**{**SMALL, **changes}), SHAPES)


def loss_of(model, batch, **changes):
    """The loss in a phase that changes some parameters."""
    parameters = Parameters(**{**model.hyperparameters.model_dump(), **changes})
    return model.loss(*model.encode_batch(batch), batch, Moment(1, "main", parameters))


def sentences_of(*words):
    longest = max(map(len, words))
    padded = torch.tensor([[*sentence, *[0] * (longest - len(sentence))] for sentence in words])
    return Sentences({"words": Words(padded, torch.tensor([len(sentence) for sentence in words]))})


def images_of(count):
    vectors = torch.randn(count, 5, generator=torch.Generator().manual_seed(2))
    return Images({"whole": vectors}, torch.ones(count, 0, dtype=torch.bool))


def batch_of(*words):
    positives = torch.eye(len(words), dtype=torch.bool)
    return Batch(images_of(len(words)), sentences_of(*words), positives)


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_encodings_have_unit_norm(encoder, similarity):
    model = make(encoder=encoder, similarity=similarity)
    (images,), (sentences,) = model.encode_images(images_of(3)), model.encode_sentences(sentences_of([2], [3, 4, 5]))
    assert images.shape == (3, 8)
    assert sentences.shape == (2, 8)
    for encoding in (images, sentences):
        assert torch.allclose(encoding.norm(dim=1), torch.ones(len(encoding)))
        assert similarity == "cosine" or (encoding >= 0).all()


def test_several_vectors_of_an_image_are_mapped_in_a_row():
    torch.manual_seed(0)
    model = VSE(Parameters(**SMALL), Shapes({"regions": 4, "ten_crop": 3, "whole": 5}, 10))
    whole, crops, regions = torch.rand(2, 5), torch.rand(2, 3), torch.rand(2, 3, 4)
    present = torch.tensor([[True, True, True], [True, True, False]])
    found = model.encode_images(Images({"regions": regions, "ten_crop": crops, "whole": whole}, present)).vectors
    for row, existing in enumerate((regions[0], regions[1, :2])):
        x = model.image(torch.cat([whole[row], crops[row], existing.mean(dim=0)]))
        torch.testing.assert_close(found[row], x / x.norm())


@pytest.mark.parametrize("views", [{"grid": 5}, {"regions": 5}, {"whole": 5, "grid": 5}])
def test_other_views_are_refused(views):
    with pytest.raises(ValueError, match="vse reads one or more of whole, centre, ten_crop"):
        VSE(Parameters(**SMALL), Shapes(views, 10))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_sentence_means_the_same_in_any_batch(encoder):
    model = make(encoder=encoder)
    (together,) = model.encode_sentences(sentences_of([2, 3], [4, 5, 6, 7], [2]))
    (alone,) = model.encode_sentences(sentences_of([2, 3]))
    assert alone.shape == (1, 8)
    assert torch.allclose(together[0], alone[0], atol=1e-6)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_word_order_matters_to_recurrent_encoders_only(encoder):
    (found,) = make(encoder=encoder).encode_sentences(sentences_of([2, 3, 4], [4, 3, 2]))
    assert torch.allclose(found[0], found[1], atol=1e-6) == (encoder in ("bag_of_words", "linear"))


@pytest.mark.parametrize("loss", ["sum", "hardest"])
@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_training_lowers_the_loss_and_moves_every_weight(encoder, similarity, loss):
    model = make(encoder=encoder, similarity=similarity, negatives=loss)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    batch = batch_of([2, 3], [4, 5, 6], [7], [8, 9, 2])
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        losses.append(loss_of(model, batch))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0] / 2
    still = [name for name, weight in model.named_parameters() if torch.equal(weight, before[name])]
    assert still == []
    assert (model.words.weight[0] == 0).all()


def test_branches_may_be_normalised_over_the_batch():
    model, sentences = make(branches="normalised", encoder="bag_of_words"), sentences_of([2], [3, 4], [5, 2], [6])
    words = sentences["words"]
    means = model.words(words.index).sum(dim=1) / words.lengths.unsqueeze(1)
    sides = [
        (model.encode_images(images_of(4)), model.image, images_of(4).views["whole"]),
        (model.encode_sentences(sentences), model.text, model.sentence(means)),
    ]
    for (found,), branch, given in sides:
        mapped = branch.linear(given)
        scaled = (mapped - mapped.mean(dim=0)) / (mapped.var(dim=0, correction=0) + branch.norm.eps).sqrt()
        torch.testing.assert_close(found, torch.nn.functional.normalize(scaled, dim=1))


def test_one_pair():
    model = make()
    loss = loss_of(model, batch_of([2]))
    assert loss.shape == ()
    assert loss == 0
    assert model.score(model.encode_images(images_of(1)), model.encode_sentences(sentences_of([2]))).shape == (1, 1)


def test_dropout_acts_in_training_only():
    model = make(dropout=0.5)
    batch = batch_of([2, 3], [4, 5])
    assert loss_of(model, batch) != loss_of(model, batch)
    model.eval()
    assert loss_of(model, batch) == loss_of(model, batch)


def test_pretrained_vectors():
    fixed, tuned = make(word_vectors="fixed"), make(word_vectors="tuned")
    assert torch.equal(fixed.words.weight[2:], SHAPES.word_vectors[2:])
    assert not fixed.words.weight.requires_grad
    assert tuned.words.weight.requires_grad
    with pytest.raises(ValueError, match="no pre-trained vectors"):
        VSE(Parameters(word_vectors="fixed"), Shapes({"whole": 5}, 10))
    with pytest.raises(ValueError, match="dimension"):
        make(word_vectors="fixed", encoder="linear")


def test_parameters_that_do_not_fit():
    with pytest.raises(ValueError, match="encoder"):
        make(encoder="cnn")
    with pytest.raises(ValueError, match="depth"):
        make(depth=3)
    with pytest.raises(ValueError, match="grid"):
        VSE(Parameters(), Shapes({"grid": 5}, 10))


def test_a_phase_may_take_all_contrastive_terms_before_the_hardest():
    model, given = make(negatives="hardest"), batch_of([2, 3], [4, 5, 6], [7])
    all_terms = make(negatives="sum")
    all_terms.load_state_dict(model.state_dict())
    assert loss_of(model, given, negatives="sum") == loss_of(all_terms, given)
    assert loss_of(model, given) != loss_of(all_terms, given)


def test_a_word_is_embedded_as_a_sentence_of_it_alone():
    model = make()
    (sentences,) = model.encode_sentences(sentences_of([4], [7]))
    assert torch.allclose(model.embed_words(torch.tensor([4, 7])), sentences)


def test_a_structure_that_is_not_given_is_named():
    with pytest.raises(ValueError, match=r"reads words .* was given \['trees'\].*`sentences` must hold words"):
        make().encode_sentences(Sentences({"trees": None}))


def test_regions_may_be_pooled_after_their_map():
    """VSE-infinity: each region is mapped, and places of the sorted values are weighed; one region is itself."""
    torch.manual_seed(0)
    model = VSE(Parameters(**SMALL, pooling="generalised"), replace(SHAPES, features={"regions": 5}))
    given = Images({"regions": torch.randn(3, 4, 5)}, torch.arange(4) < torch.tensor([[1], [4], [2]]))
    found = model.encode_images(given).vectors
    pooled = model.pooling(model.image(given.views["regions"]), given.present)
    torch.testing.assert_close(found, torch.nn.functional.normalize(pooled, dim=1))
    alone = model.image(given.views["regions"][0, 0])
    torch.testing.assert_close(found[0], torch.nn.functional.normalize(alone, dim=0))


@pytest.mark.parametrize(("pooling", "views"), [("generalised", {"whole": 5}), ("mean", {"regions": 5})])
def test_views_that_the_pooling_does_not_read_are_refused(pooling, views):
    with pytest.raises(ValueError, match="with pooling: generalised, it reads regions alone"):
        VSE(Parameters(**SMALL, pooling=pooling), replace(SHAPES, features=views))


@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
def test_a_loss_that_learns_has_weights_in_the_model_and_others_have_none(kind):
    learned = {name for name in make(negatives=kind).state_dict() if name.startswith("ranking.")}
    assert learned == {"ranking.log_scale"} | ({"ranking.bias"} if kind == "sigmoid" else set())
    assert not [name for name in make().state_dict() if name.startswith(("ranking", "pooling"))]
    assert loss_of(make(negatives=kind), batch_of([2, 3], [4, 5, 6], [7])) > 0

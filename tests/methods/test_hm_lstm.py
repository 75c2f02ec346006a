"""HM-LSTM's loss against a literal reading of Eq 9 and 10, and its negatives."""

import dataclasses

import numpy as np
import pytest
import torch

from densevse.methods.hm_lstm import HMLSTM, contrastive_loss
from densevse.methods.interface import Batch, Correspondences, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.hm_lstm import Parameters
from densevse.methods.structures import Trees
from tests.kernels import definitions

SMALL = {"dimension": 6, "hidden": 5, "word_vectors": "learned", "word_dimension": 4}
SHAPES = Shapes(features={"regions": 8}, words=10)


def a_sentence(first, words):
    """A tree ((D N) V): nodes D, N, NP, V, S."""
    d, n, v = words
    return (
        [d, n, -1, v, -1],
        [first + 2, first + 2, first + 4, first + 4, -1],
        [False, False, True, False, False],
        first + 4,
    )


def make_trees(*sentences):
    parts = [a_sentence(5 * i, words) for i, words in enumerate(sentences)]
    flat = [np.concatenate([part[k] for part in parts]) for k in range(3)]
    return Trees(*flat, np.array([part[3] for part in parts]))


def make_batch(sentences=((1, 2, 3), (1, 4, 3), (1, 2, 5)), image_ids=(0, 1, 2), weights=(0.5, 0.25, 0.75)):
    torch.manual_seed(1)
    count = len(sentences)
    features = torch.randn(max(image_ids) + 1, 4, 8)[list(image_ids)]
    ids = torch.tensor(image_ids)
    pairs = Correspondences(
        sentence=torch.arange(count),
        node=5 * torch.arange(count) + 2,
        region=torch.arange(count) % 3 + 1,
        weight=torch.tensor(weights),
    )
    return Batch(
        Images({"regions": features}, torch.ones(count, 4, dtype=torch.bool)),
        Sentences({"trees": make_trees(*sentences)}),
        ids[:, None] == ids[None, :],
        pairs,
    )


def build(**parameters):
    torch.manual_seed(0)
    return HMLSTM(Parameters(**{**SMALL, **parameters}), SHAPES)


def loss_of(model, batch):
    """The loss as the task computes it: encodings, then the loss of them."""
    return model.loss(*model.encode_batch(batch), batch, Moment(1, "phrases", model.hyperparameters))


def literal_branch(branch, x, wholes):
    """Fully connected, batch normalisation by the statistics of the first rows, length 1."""
    x = branch.linear(x)
    mean, variance = x[:wholes].mean(dim=0), x[:wholes].var(dim=0, unbiased=False)
    x = (x - mean) / (variance + branch.norm.eps).sqrt() * branch.norm.weight + branch.norm.bias
    return x / x.norm(dim=1, keepdim=True)


def states_of(model, vectors, trees):
    return definitions.h_lstm(model.encoder, vectors, trees.word, trees.parent, trees.noun_phrase)


def literal_loss(model, batch, same_phrase):
    """Eq 9 and 10 pair by pair; negatives are of other images, phrases also of other words."""
    pairs, trees = batch.correspondences, batch.sentences["trees"]
    regions = batch.images.views["regions"]
    count, margin = len(trees.root), 0.1
    nodes = torch.cat((torch.from_numpy(trees.root), pairs.node))
    h = literal_branch(model.text, states_of(model, model.vectors.weight, trees)[nodes], count)
    v = literal_branch(model.visual, torch.cat((regions[:, 0], regions[pairs.sentence, pairs.region])), count)
    total = 0.0
    for first, weights in ((0, [1.0] * count), (count, pairs.weight.clamp(min=0).tolist())):
        for k in range(count):
            loss = 0.0
            for other in range(count):
                if batch.positives[k, other] or (first and same_phrase[k] == same_phrase[other]):
                    continue
                true = v[first + k] @ h[first + k]
                loss = loss + (margin - true + v[first + k] @ h[first + other]).clamp(min=0)
                loss = loss + (margin - true + h[first + k] @ v[first + other]).clamp(min=0)
            total = total + weights[k] * loss
    return total / count


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_leaves_begin_with_gates_of_one_size_whatever_the_scale_of_the_word_vectors(scale):
    torch.manual_seed(0)
    shapes = Shapes(features={"regions": 8}, words=200, word_vectors=scale * torch.randn(200, 40))
    model = HMLSTM(Parameters(**{**SMALL, "word_vectors": "fixed", "hidden": 100}), shapes)
    assert float((model.vectors.weight @ model.encoder.w.T).detach().std()) == pytest.approx(1, abs=0.1)


def test_the_loss_is_equations_9_and_10():
    model, batch = build(), make_batch()
    torch.testing.assert_close(loss_of(model, batch), literal_loss(model, batch, same_phrase=[0, 1, 0]))


def test_identical_phrases_may_be_taken_for_negatives():
    batch = make_batch()
    model = build(identical_phrases="negatives")
    torch.testing.assert_close(loss_of(model, batch), literal_loss(model, batch, same_phrase=[0, 1, 2]))
    assert loss_of(model, batch) != loss_of(build(), batch)


def test_leaves_may_read_their_sentence():
    """The word's vector with the state of a BiLSTM over this sentence: the same phrase differs between sentences."""
    two, one = make_trees((1, 2, 3), (1, 2, 5)), make_trees((1, 2, 5))
    phrases, roots = torch.tensor([2, 7]), torch.tensor([4, 9])
    words = build().eval()
    torch.testing.assert_close(*words.embed_nodes(two, phrases))
    model = build(leaves="bilstm").eval()
    of_phrases = model.embed_nodes(two, phrases)
    assert not torch.allclose(*of_phrases, atol=1e-3)
    torch.testing.assert_close(of_phrases[1], model.embed_nodes(one, phrases[:1])[0])

    x = model.vectors.weight[[1, 2, 5]] + definitions.bidirectional(model.reader, model.vectors.weight[[1, 2, 5]])
    states = states_of(model, x, dataclasses.replace(one, word=np.array([0, 1, -1, 2, -1])))
    torch.testing.assert_close(model.embed_nodes(two, roots)[1:], model.text(states[roots[:1]]))


def test_phrases_of_the_same_words_are_no_contrast_whatever_their_leaves_read():
    batch, same, other = make_batch(), build(leaves="bilstm"), build(leaves="bilstm", identical_phrases="negatives")
    _, sentences = same.encode_batch(batch)
    assert sentences.wording[0] == sentences.wording[2] != sentences.wording[1]
    assert not torch.allclose(sentences.phrases[0], sentences.phrases[2], atol=1e-3)
    assert loss_of(same, batch) < loss_of(other, batch)


def test_phrases_of_the_same_head_may_be_no_contrast():
    batch = make_batch(sentences=((1, 2, 3), (4, 2, 3), (1, 5, 3)))
    model = build(identical_phrases="same_head")
    torch.testing.assert_close(loss_of(model, batch), literal_loss(model, batch, same_phrase=[0, 0, 1]))
    assert loss_of(model, batch) != loss_of(build(), batch)


def literal_phrases(model, batch, contrasts):
    """Eq 9 of the phrases alone, with the regions and phrases, or wholes, that `contrasts(k, v, h)` names."""
    images, sentences = model.encode_batch(batch)
    (whole_v, v), (whole_h, h) = images, (sentences.vectors, sentences.phrases)
    total = 0.0
    for k, weight in enumerate(batch.correspondences.weight.tolist()):
        true = v[k] @ h[k]
        for other_v, other_h in contrasts(k, (whole_v, v), (whole_h, h)):
            hinges = (0.1 - true + v[k] @ other_h).clamp(min=0), (0.1 - true + h[k] @ other_v).clamp(min=0)
            total = total + weight * sum(hinges)
    return total / len(whole_v)


def loss_of_phrases(model, batch):
    without = dataclasses.replace(batch, correspondences=None)
    return loss_of(model, batch) - loss_of(model, without)


def test_phrases_may_contrast_with_those_of_their_own_sentence():
    batch = make_batch()
    # Two phrases of the first sentence and one of the second; then the first two mean one region.
    several = dataclasses.replace(batch.correspondences, sentence=torch.tensor([0, 0, 1]), node=torch.tensor([2, 1, 7]))
    for region, expected in (([1, 2, 1], {0: [1], 1: [0], 2: []}), ([1, 1, 2], {0: [], 1: [], 2: []})):
        pairs = dataclasses.replace(several, region=torch.tensor(region))
        one = dataclasses.replace(batch, correspondences=pairs)
        model = build(contrast="sentence")

        def contrasts(k, v, h, expected=expected):
            return [(v[1][other], h[1][other]) for other in expected[k]]

        literal = literal_phrases(model, one, contrasts)
        torch.testing.assert_close(loss_of_phrases(model, one), torch.as_tensor(literal), atol=1e-6, rtol=1e-5)
        assert (literal > 0) == (region == [1, 2, 1])


def test_phrases_may_contrast_with_whole_images_and_sentences():
    batch, model = make_batch(image_ids=(0, 1, 1)), build(contrast="whole")
    of_image = {0: [1, 2], 1: [0], 2: [0]}  # the second and third sentence have the same image

    def contrasts(k, v, h):
        return [(v[0][other], h[0][other]) for other in of_image[k]]

    torch.testing.assert_close(loss_of_phrases(model, batch), literal_phrases(model, batch, contrasts))


def test_sentences_and_phrases_of_one_image_are_no_negatives():
    batch = make_batch(image_ids=(0, 0, 0))
    assert loss_of(build(), batch) == 0


def test_a_correspondence_of_negative_confidence_counts_nothing():
    model = build()
    losses = [loss_of(model, make_batch(weights=(0.5, weight, 0.75))) for weight in (-0.3, 0.0, 0.4)]
    assert losses[0] == losses[1]
    assert losses[2] > losses[1]


def test_phrases_count_as_their_weight_says():
    batch = make_batch(weights=(1.0, 1.0, 1.0))
    other = make_batch(weights=(0.1, 0.9, 0.4))
    assert loss_of(build(phrase_weight="uniform"), other) == loss_of(build(), batch)
    without = dataclasses.replace(batch, correspondences=None)
    assert loss_of(build(phrase_weight="none"), batch) == loss_of(build(), without)
    assert loss_of(build(), batch) > loss_of(build(), without)


def test_a_phase_may_leave_out_phrases():
    batch, model = make_batch(), build()
    images, sentences = model.encode_batch(batch)
    parameters = model.hyperparameters.model_copy(update={"phrase_weight": "none"})
    total = model.loss(images, sentences, batch, Moment(1, "main", parameters))
    torch.testing.assert_close(total, loss_of(build(phrase_weight="none"), batch))


def test_phrases_may_be_trained_alone():
    batch = make_batch()
    whole, roots, phrases = (
        loss_of(build(**one), batch) for one in ({}, {"phrase_weight": "none"}, {"root_weight": 0})
    )
    torch.testing.assert_close(phrases, whole - roots)
    assert phrases > 0


def test_the_mean_over_a_sentences_phrases_is_their_sum_with_shared_weights():
    batch = make_batch()
    one, shared = batch.correspondences, [0, 0, 1]  # the first sentence has two phrases
    pairs = dataclasses.replace(one, sentence=torch.tensor(shared), node=torch.tensor([2, 3, 7]))
    halved = dataclasses.replace(pairs, weight=pairs.weight * torch.tensor([0.5, 0.5, 1.0]))
    of_mean, of_sum = (
        loss_of(build(phrases=over), dataclasses.replace(batch, correspondences=found))
        for over, found in (("mean", pairs), ("sum", halved))
    )
    torch.testing.assert_close(of_mean, of_sum)


def test_no_phrase_in_the_batch_leaves_the_roots():
    batch = make_batch()
    empty = Correspondences(*(getattr(batch.correspondences, f)[:0] for f in ("sentence", "node", "region", "weight")))
    with_none = dataclasses.replace(batch, correspondences=None)
    with_empty = dataclasses.replace(batch, correspondences=empty)
    model = build()
    assert loss_of(model, with_none) == loss_of(model, with_empty)


@pytest.mark.parametrize("over", ["sum", "mean", "hardest"])
def test_contrastive_items_are_summed_averaged_or_the_hardest_is_taken(over):
    scores = torch.tensor([[0.5, 0.45, 0.3], [0.6, 0.2, 0.3], [0.9, 0.9, 0.1]])
    negatives = torch.tensor([[0, 1, 1], [1, 0, 0], [1, 0, 0]]).bool()
    # Pair 0: row hinges .05, 0; column hinges .2, .5. Pair 1: row .5, column .35. Pair 2: row .9, column .3.
    expected = {"sum": [0.75, 0.85, 1.2], "mean": [0.375, 0.85, 1.2], "hardest": [0.55, 0.85, 1.2]}[over]
    torch.testing.assert_close(contrastive_loss(scores, negatives, 0.1, over), torch.tensor(expected))


@pytest.mark.parametrize("contrast", ["batch", "whole"])
@pytest.mark.parametrize("over", ["sum", "mean", "hardest"])
def test_phrases_may_have_negatives_of_their_own(contrast, over):
    """Whole sentences keep theirs: the loss is that of either model, on its part."""
    batch, same, shape = make_batch(), {"contrast": contrast, "phrase_weight": "uniform"}, {"phrase_weight": "none"}
    model = build(negatives="hardest", phrase_negatives=over, **same)
    of_phrases = loss_of(build(negatives=over, **same), batch) - loss_of(build(negatives=over, **shape), batch)
    torch.testing.assert_close(loss_of(model, batch), loss_of(build(negatives="hardest", **shape), batch) + of_phrases)


def test_phrases_have_the_negatives_of_whole_sentences_unless_they_are_given():
    assert Parameters().phrase_negatives is None
    assert loss_of(build(negatives="mean"), make_batch()) == loss_of(
        build(negatives="mean", phrase_negatives="mean"), make_batch()
    )


def test_the_negatives_of_phrases_change_no_round_0():
    assert "phrase_negatives" in Parameters.LATER


def test_scores_are_of_whole_images_with_whole_sentences():
    model, batch = build().eval(), make_batch()
    images, sentences = model.encode_images(batch.images), model.encode_sentences(batch.sentences)
    changed = batch.images.views["regions"].clone()
    changed[:, 1:] += 1
    assert torch.equal(images[0], model.encode_images(Images({"regions": changed}, batch.images.present))[0])
    scores = model.score(images, sentences)
    assert scores.shape == (3, 3)
    torch.testing.assert_close(images[0].norm(dim=1), torch.ones(3))
    torch.testing.assert_close(sentences[0].norm(dim=1), torch.ones(3))
    torch.testing.assert_close(scores[0, 1], images[0][0] @ sentences[0][1])


def test_phrases_change_no_statistics_of_the_batch_normalisation():
    model, batch = build(), make_batch()
    loss_of(model.train(), batch)
    without = build()
    loss_of(without.train(), dataclasses.replace(batch, correspondences=None))
    for branch, other in ((model.text, without.text), (model.visual, without.visual)):
        torch.testing.assert_close(branch.norm.running_mean, other.norm.running_mean)
        torch.testing.assert_close(branch.norm.running_var, other.norm.running_var)


def test_fixed_word_vectors_are_the_given_ones_and_do_not_learn():
    given = torch.randn(10, 4)
    shapes = dataclasses.replace(SHAPES, word_vectors=given)
    model = HMLSTM(Parameters(**{**SMALL, "word_vectors": "fixed"}), shapes)
    assert torch.equal(model.vectors.weight, given)
    assert not model.vectors.weight.requires_grad
    tuned = HMLSTM(Parameters(**{**SMALL, "word_vectors": "tuned"}), shapes).vectors.weight
    assert torch.equal(tuned, given)
    assert tuned.requires_grad


def test_fixed_word_vectors_must_be_given():
    with pytest.raises(ValueError, match="no pre-trained vectors"):
        HMLSTM(Parameters(**{**SMALL, "word_vectors": "fixed"}), SHAPES)


def test_a_batch_of_one_pair_has_nothing_to_contrast():
    model = build(phrase_weight="none").train()
    loss = loss_of(model, make_batch(sentences=((1, 2, 3),), image_ids=(0,), weights=(1.0,)))
    loss.backward()
    assert loss == 0


def test_learning_makes_pairs_closest():
    model, batch = build(), make_batch(sentences=((1, 2, 3), (4, 5, 6), (7, 8, 9)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        optimizer.step()
    scores = model.eval().score(model.encode_images(batch.images), model.encode_sentences(batch.sentences))
    assert scores.argmax(0).tolist() == scores.argmax(1).tolist() == [0, 1, 2]


def test_a_phrase_is_assigned_the_closest_region():
    regions = torch.tensor([[[1.0, 0], [0, 1], [0.6, 0.8]], [[0, 1], [1, 0], [0, 0]], [[0, 1], [0, 0], [0, 0]]])
    present = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0]]).bool()
    phrases = torch.tensor([[1.0, 0], [0, 1], [1, 0]])
    region, confidence = build().assign(regions, present, phrases)
    assert region.tolist() == [2, 1, 0]  # detections only, but the whole image where nothing was detected
    torch.testing.assert_close(confidence, torch.tensor([0.6, 0.0, 0.0]))
    region, confidence = build(candidates="all").assign(regions, present, phrases)
    assert region.tolist() == [0, 0, 0]
    torch.testing.assert_close(confidence, torch.tensor([1.0, 1.0, 0.0]))


def test_confidence_may_be_the_lead_over_the_next_region():
    regions = torch.tensor([[[9.0, 0], [0.2, 1], [0.6, 0.8]], [[0, 1], [0.5, 0], [0, 0]]])
    present = torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()
    region, confidence = build(confidence="lead").assign(regions, present, torch.tensor([[1.0, 0], [1, 0]]))
    assert region.tolist() == [2, 1]
    torch.testing.assert_close(confidence, torch.tensor([0.4, 0.5]))  # a region alone leads by its whole score


def test_a_parameter_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="negatives"):
        build(negatives="easiest")


def test_dropout_acts_in_training_only():
    model, batch = build(dropout=0.5), make_batch()
    assert loss_of(model, batch) != loss_of(model, batch)
    model.eval()
    assert loss_of(model, batch) == loss_of(model, batch)
    assert loss_of(build(dropout=0.5).eval(), batch) == loss_of(build().eval(), batch)

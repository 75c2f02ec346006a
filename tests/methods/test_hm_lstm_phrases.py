"""HM-LSTM with phrases in its score, against a loop over phrases and regions."""

import numpy as np
import pytest
import torch

from densevse.methods.hm_lstm import HMLSTM
from densevse.methods.hm_lstm_phrases import HMLSTMWithPhrases
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.hm_lstm_phrases import Parameters
from densevse.methods.structures import Trees

SHAPES = Shapes(features={"regions": 8}, words=10)
SMALL = {"dimension": 6, "hidden": 5, "word_vectors": "learned", "word_dimension": 4}
REGIONS = [3, 1, 4]  # of each image: the second has its full frame only
PHRASES = {0: [2], 1: [7, 10], 2: []}  # the noun phrases of each sentence, by their nodes


def build(**parameters):
    torch.manual_seed(0)
    return HMLSTMWithPhrases(Parameters(**{**SMALL, **parameters}), SHAPES).double().eval()


def images():
    torch.manual_seed(1)
    present = torch.arange(4) < torch.tensor(REGIONS)[:, None]
    return Images({"regions": torch.randn(3, 4, 8, dtype=torch.double) * present.unsqueeze(2)}, present)


def sentences():
    """((D N) V), ((D N) (V (D N))) and (D N), whose only noun phrase is the whole sentence."""
    word = [1, 2, -1, 3, -1, 1, 4, -1, 5, 6, -1, -1, 1, 7, -1]
    parent = [2, 2, 4, 4, -1, 7, 7, 11, 10, 10, 11, -1, 14, 14, -1]
    noun_phrase = np.isin(np.arange(len(word)), [2, 7, 10, 14])
    return Sentences({"trees": Trees(np.array(word), np.array(parent), noun_phrase, np.array([4, 11, 14]))})


def literal_scores(method, weight, candidates):
    """S_kl, a phrase and a region at a time."""
    model, trees, given = method.hm_lstm, sentences()["trees"], images()
    h = model.embed_nodes(trees, torch.arange(len(trees.word)))
    scores = []
    for regions, count in zip(given.views["regions"], REGIONS, strict=True):
        v = [model.embed_regions(region[None])[0] for region in regions[:count]]
        allowed = v if candidates == "all" or count == 1 else v[1:]
        for sentence, phrases in PHRASES.items():
            best = [max(vi @ h[phrase] for vi in allowed) for phrase in phrases]
            of_phrases = sum(best) / len(best) if best else 0
            scores.append(v[0] @ h[trees.root[sentence]] + weight * of_phrases)
    return torch.stack(scores).view(3, 3)


@pytest.mark.parametrize("candidates", ["detections", "all"])
@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_scores_equal_the_literal_loop(candidates, weight):
    method = build(candidates=candidates, phrases_in_score=weight)
    with torch.inference_mode():
        scores = method.score(method.encode_images(images()), method.encode_sentences(sentences()))
        torch.testing.assert_close(scores, literal_scores(method, weight, candidates))


@pytest.mark.parametrize("candidates", ["detections", "all"])
def test_the_control_scores_the_best_region_of_the_whole_sentence(candidates):
    method, trees = build(candidates=candidates, phrases_in_score=0.7, scored="sentence"), sentences()["trees"]
    with torch.inference_mode():
        scores = method.score(method.encode_images(images()), method.encode_sentences(sentences()))
        h = method.hm_lstm.embed_nodes(trees, torch.arange(len(trees.word)))[torch.as_tensor(trees.root)]
        for image, (regions, count) in enumerate(zip(images().views["regions"], REGIONS, strict=True)):
            v = method.hm_lstm.embed_regions(regions[:count])
            best = (v if candidates == "all" or count == 1 else v[1:]) @ h.T
            torch.testing.assert_close(scores[image], v[0] @ h.T + 0.7 * best.amax(dim=0))


def test_without_weight_it_ranks_as_hm_lstm():
    method = build(phrases_in_score=0)
    model = method.hm_lstm
    with torch.inference_mode():
        theirs = model.score(model.encode_images(images()), model.encode_sentences(sentences()))
        torch.testing.assert_close(
            method.score(method.encode_images(images()), method.encode_sentences(sentences())), theirs
        )


def test_sentences_without_a_noun_phrase_may_be_encoded_alone():
    method = build()
    flat = Sentences({"trees": Trees(np.array([1, 2, -1]), np.array([2, 2, -1]), np.zeros(3, bool), np.array([2]))})
    found = method.encode_sentences(flat)
    assert found.phrases.shape == (1, 0, 6)
    whole = method.encode_images(images()).vectors[:, 0] @ found.whole.T
    torch.testing.assert_close(method.score(method.encode_images(images()), found), whole)


def test_the_loss_is_hm_lstms():
    method = build()
    batch = Batch(images(), sentences(), torch.eye(3, dtype=torch.bool))
    now = Moment(1, "as_trained", method.hyperparameters)
    model = method.hm_lstm
    assert method.loss(*method.encode_batch(batch), batch, now) == model.loss(*model.encode_batch(batch), batch, now)


def test_it_starts_from_a_trained_hm_lstm_alone():
    torch.manual_seed(7)
    trained = HMLSTM(Parameters(**SMALL), SHAPES).double()
    method = build()
    method.start_from("hm_lstm", trained.state_dict())
    for name, weights in method.hm_lstm.state_dict().items():
        assert torch.equal(weights, trained.state_dict()[name])
    with pytest.raises(ValueError, match="cannot start from a model of the method vse"):
        method.start_from("vse", trained.state_dict())
    with pytest.raises(ValueError, match="size mismatch"):
        build(dimension=7).start_from("hm_lstm", trained.state_dict())

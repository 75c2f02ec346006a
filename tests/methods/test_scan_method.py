"""SCAN against a port of its authors' code, and its attention."""

import pytest
import torch
from pydantic import ValidationError
from torch.nn import functional

from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.scan import Parameters
from densevse.methods.scan import SCAN
from densevse.methods.structures import Words
from densevse.models.files import build_method
from snakeproof.errors import InputError

SMALL = {"dimension": 6, "word_dimension": 4}
SENTENCES = ((2, 3, 4), (5,), (6, 7, 8, 9, 2), (2, 3, 10, 11))
PRESENT = ((1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 0), (1, 0, 0, 0))  # the last image has no region but the whole of it
VARIANTS = {
    "t2i_lse": {"pooling": "lse"},
    "t2i_avg": {},
    "i2t_lse": {"direction": "i2t", "pooling": "lse", "lambda_softmax": 4.0, "lambda_lse": 5.0},
    "i2t_avg": {"direction": "i2t", "lambda_softmax": 4.0},
}
NORMS = ["clipped_l2norm", "l2norm", "clipped", "softmax", "no_norm"]  # l1norm calls what the authors' code lacks


def build_model(view="regions", **changes):
    """A model in float64 whose weights are far from their small beginnings."""
    torch.manual_seed(0)
    model = SCAN(Parameters(**{**SMALL, **changes}), Shapes({view: 8}, 12)).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.5 * torch.randn_like(weight))
    model.words.weight.data[0] = 0
    return model


def batch_of(view="regions"):
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(4, 4, 8, generator=generator, dtype=torch.double)
    index = torch.tensor([[*sentence, *[0] * (5 - len(sentence))] for sentence in SENTENCES])
    present = torch.tensor(PRESENT, dtype=torch.bool) if view == "regions" else torch.ones(4, 0, dtype=torch.bool)
    words = Words(index, torch.tensor([len(sentence) for sentence in SENTENCES]))
    return Batch(Images({view: features}, present), Sentences({"words": words}), torch.eye(4, dtype=torch.bool))


# A port of model.py of https://github.com/kuanghuei/SCAN (Kuang-Huei Lee, Apache License 2.0): one sentence with one
# image after the other, as images have different numbers of regions here.


def l2norm(x, dim, eps=1e-8):
    return x / (x.pow(2).sum(dim=dim, keepdim=True).sqrt() + eps)


def func_attention(query, context, raw_feature_norm, smooth):
    """(queries, d) and (contexts, d) to the weighted contexts (queries, d)."""
    attn = context @ query.T
    if raw_feature_norm == "softmax":
        attn = attn.softmax(dim=1)
    elif raw_feature_norm == "l2norm":
        attn = l2norm(attn, 1)
    elif raw_feature_norm == "clipped_l2norm":
        attn = l2norm(functional.leaky_relu(attn, 0.1), 1)
    elif raw_feature_norm == "clipped":
        attn = functional.leaky_relu(attn, 0.1)
    attn = (attn.T * smooth).softmax(dim=1)
    return attn @ context


def cosine_similarity(x1, x2, eps=1e-8):
    return (x1 * x2).sum(1) / (x1.norm(dim=1) * x2.norm(dim=1)).clamp(min=eps)


def xattn_score(query, context, parameters):
    """xattn_score_t2i of words and regions, xattn_score_i2t of regions and words."""
    weighted = func_attention(query, context, parameters.raw_feature_norm, parameters.lambda_softmax)
    row_sim = cosine_similarity(query, weighted)
    if parameters.pooling == "lse":
        return row_sim.mul(parameters.lambda_lse).exp().sum().log() / parameters.lambda_lse
    return row_sim.mean()


def published_scores(model, batch):
    """All scores, from the weights of a model: its encoders in the words of the authors' code."""
    parameters, rows = model.hyperparameters, []
    gru = as_pytorch(model)
    for features, present in zip(batch.images.views["regions"], batch.images.present, strict=True):
        kept = present.clone()
        if not parameters.whole_image:
            kept[0] = not present[1:].any()
        regions = l2norm(model.image(features[kept]), 1)
        scores = []
        for sentence in SENTENCES:
            out = gru(model.words(torch.tensor(sentence)))[0]
            words = l2norm((out[:, : out.shape[1] // 2] + out[:, out.shape[1] // 2 :]) / 2, 1)
            sides = (words, regions) if parameters.direction == "t2i" else (regions, words)
            scores.append(xattn_score(*sides, parameters))
        rows.append(torch.stack(scores))
    return torch.stack(rows)


def as_pytorch(model):
    """PyTorch's bidirectional GRU of the same weights: its gates stand in the same order."""
    gru = torch.nn.GRU(SMALL["word_dimension"], SMALL["dimension"], bidirectional=True).double()
    weights = {}
    for layer, end in ((model.sentence.forwards, ""), (model.sentence.backwards, "_reverse")):
        weights[f"weight_ih_l0{end}"], weights[f"weight_hh_l0{end}"] = layer.weight_input, layer.weight_hidden
        weights[f"bias_ih_l0{end}"] = layer.bias_input
        weights[f"bias_hh_l0{end}"] = torch.cat((torch.zeros(2 * SMALL["dimension"]), layer.bias_hidden))
    return lambda vectors: torch.func.functional_call(gru, weights, (vectors,))


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("norm", NORMS)
def test_scores_are_those_of_the_authors_code(changes, norm):
    model, batch = build_model(raw_feature_norm=norm, **changes), batch_of()
    torch.testing.assert_close(model.score(*model.encode_batch(batch)), published_scores(model, batch))


def test_the_whole_image_may_be_one_of_the_regions():
    model, batch = build_model(whole_image=True), batch_of()
    found = model.score(*model.encode_batch(batch))
    torch.testing.assert_close(found, published_scores(model, batch))
    without = build_model().score(*build_model().encode_batch(batch))
    assert (found[0] != without[0]).all()
    torch.testing.assert_close(found[3], without[3])  # there is no other


def test_cells_of_a_grid_stand_in_the_place_of_regions():
    model, batch = build_model("grid"), batch_of("grid")
    every = Batch(Images({"regions": batch.images.views["grid"]}, torch.ones(4, 4, dtype=torch.bool)), *[None] * 2)
    as_regions = build_model(whole_image=True).encode_images(every.images)
    torch.testing.assert_close(model.encode_images(batch.images).vectors, as_regions.vectors)


@pytest.mark.parametrize("negatives", ["hardest", "sum"])
def test_the_loss_is_that_of_the_paper(negatives):
    """Eq 7, and the same over all negatives, by loops over the authors' scores, with the parameters of the moment."""
    model, batch = build_model(), batch_of()
    moment = Moment(1, "main", model.hyperparameters.model_copy(update={"negatives": negatives, "margin": 0.5}))
    found = model.loss(*model.encode_batch(batch), batch, moment)
    s = published_scores(model, batch)
    chosen = max if negatives == "hardest" else sum
    expected = sum(
        chosen([(0.5 - s[i, i] + s[i, j]).clamp(min=0) for j in range(4) if j != i])
        + chosen([(0.5 - s[i, i] + s[j, i]).clamp(min=0) for j in range(4) if j != i])
        for i in range(4)
    )
    torch.testing.assert_close(found, expected)
    weights = list(model.parameters())
    ours, theirs = (torch.autograd.grad(loss, weights) for loss in (found, expected))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_saliency_has_a_step_for_each_word_or_region(direction):
    model, batch = build_model(direction=direction), batch_of()
    pairs = torch.arange(4)
    found = model.saliency(*model.encode_batch(batch), pairs, pairs)
    assert found.view == "regions"
    lengths = torch.tensor([len(sentence) for sentence in SENTENCES])
    queries = lengths if direction == "t2i" else torch.tensor([3, 2, 1, 1])
    for weights in (found.places, found.words):
        torch.testing.assert_close(weights.sum(dim=(0, 2)), queries.double())
    itself = found.words if direction == "t2i" else found.places
    assert ((itself == 0) | (itself == 1)).all()
    assert (found.words[:, 1, 1:] == 0).all()  # a sentence of one word


def test_a_wrong_parameter_or_view_is_named():
    with pytest.raises(ValidationError, match="direction"):
        Parameters(direction="both")
    with pytest.raises(ValidationError, match="lambda_softmax"):
        Parameters(lambda_softmax=0)
    with pytest.raises(InputError, match=r"scan reads the view regions or the view grid, not \['whole'\]"):
        build_method("scan", SMALL, Shapes({"whole": 8}, 12))
    with pytest.raises(InputError, match=r"scan reads the view regions or the view grid, not \['grid', 'regions'\]"):
        build_method("scan", SMALL, Shapes({"grid": 8, "regions": 8}, 12))

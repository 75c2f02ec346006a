"""sm-LSTM against its equations, written as literal loops over pairs, steps, cells and words in float64."""

import pytest
import torch
from pydantic import ValidationError

from densevse.kernels.pairs import Grouped
from densevse.methods import sm_lstm as attention
from densevse.methods.interface import Batch, Images, Moment, Saliency, Sentences, Shapes
from densevse.methods.parameters.sm_lstm import Parameters
from densevse.methods.parameters.vse import Parameters as VSEParameters
from densevse.methods.sm_lstm import SMLSTM, compared_pairs, regulariser
from densevse.methods.structures import Words
from densevse.methods.vse import VSE
from tests.cases import first_now

SMALL = {
    "hidden": 5,
    "word_hidden": 3,
    "word_dimension": 4,
    "context_dimension": 6,
    "context_word_dimension": 4,
    "attention_units": 7,
    "similarity": 5,
    "score_units": 4,
    "mismatched": 2,
    "pairs_at_once": 4,
    "balance": 1.5,
}
SHAPES = Shapes({"grid": 8, "whole": 9}, 12)
SENTENCES = ((2, 3, 4), (5,), (6, 7, 8, 9, 2), (2, 3, 10, 11))
VARIANTS = {
    "full": {},
    "mean": {"select": "mean"},
    "att": {"context": False},
    "ctx": {"select": "context"},
    "printed": {"attention": "printed"},
    "contexts in score": {"contexts_in_score": True},
    "mean, contexts in score": {"contexts_in_score": True, "select": "mean"},
    "sum in s_t": {"comparison": "sum"},
    "cosine": {"head": "cosine_and_mlp"},
    "att, cosine": {"head": "cosine_and_mlp", "context": False, "contexts_in_score": True},
}
CPU = torch.device("cpu")


def build(spread=1.0, **changes):
    """A model in float64 whose weights are far from their small beginnings."""
    torch.manual_seed(0)
    model = SMLSTM(Parameters(**{**SMALL, **changes}), SHAPES).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(spread * torch.randn_like(weight))
    for words in (model.words, model.context_words):
        if words is not None:
            words.weight.data[0] = 0
    return model


def images_of(count, cells=6):
    generator = torch.Generator().manual_seed(1)
    sizes = {"grid": (count, cells, 8), "whole": (count, 9)}
    views = {view: torch.randn(size, generator=generator, dtype=torch.double) for view, size in sizes.items()}
    return Images(views, torch.ones(count, 0, dtype=torch.bool))


def sentences_of(*words):
    longest = max(map(len, words))
    index = torch.tensor([[*sentence, *[0] * (longest - len(sentence))] for sentence in words])
    return Sentences({"words": Words(index, torch.tensor([len(sentence) for sentence in words]))})


def batch_of(*words, cells=6):
    return Batch(images_of(len(words), cells), sentences_of(*words), torch.eye(len(words), dtype=torch.bool))


def loss_of(model, batch, **changes):
    moment = Moment(1, "main", model.hyperparameters.model_copy(update=changes))
    return model.loss(*model.encode_batch(batch), batch, moment)


# The literal model: one image with one sentence at a time.


def scaled(x):
    return x / x.square().mean().sqrt()


def states_of(layer, vectors):
    """Hidden states of an LSTM after each of the vectors."""
    hidden = cell = torch.zeros(layer.weight_hidden.shape[1], dtype=torch.double)
    states = []
    for vector in vectors:
        i, f, o, g = (layer.weight_input @ vector + layer.bias_input + layer.weight_hidden @ hidden).chunk(4)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        states.append(hidden)
    return states


def instances(model, image, words):
    """a_i, m, w_j and n of one image and one sentence (sections 3.1 and 3.2)."""
    cells, m = scaled(image.views["grid"][0]), scaled(image.views["whole"][0])
    w, n = None, None
    if model.words is not None:
        vectors = [model.words.weight[word] for word in words]
        forwards = states_of(model.blstm.forwards, vectors)
        backwards = states_of(model.blstm.backwards, vectors[::-1])[::-1]
        w = scaled(torch.stack([torch.cat(both) for both in zip(forwards, backwards, strict=True)]))
    if model.context_words is not None:
        n = scaled(states_of(model.context, [model.context_words.weight[word] for word in words])[-1])
    return cells, m, w, n


def saliency_of(layer, printed, candidates, context, h):
    """Eq 1 and 2, one candidate after the other."""
    logits = []
    for a in candidates:
        terms = [layer.candidate(a), layer.hidden(h)]
        if layer.context is not None:
            terms.append(layer.context(context))
        logits.append(layer.weight @ (sum(map(torch.sigmoid, terms)) if printed else torch.tanh(sum(terms))))
    logits = torch.stack(logits)
    return logits.exp() / logits.exp().sum()


def literal(model, image, words):
    """The score of one pair, and its saliency at each step."""
    p = model.hyperparameters
    a, m, w, n = instances(model, image, words)
    h = c = torch.zeros(p.hidden, dtype=torch.double)
    maps = []
    for _ in range(p.steps):
        if p.select == "attention":
            printed = p.attention == "printed"
            cells = saliency_of(model.image.attention, printed, a, m, h)
            of_words = saliency_of(model.sentence.attention, printed, w, n, h)
            chosen = (
                sum(x * y for x, y in zip(cells, a, strict=True)),
                sum(x * y for x, y in zip(of_words, w, strict=True)),
            )  # Eq 3
            maps.append((cells, of_words))
        else:
            chosen = (a.mean(dim=0), w.mean(dim=0)) if p.select == "mean" else (m, n)
        of_image, of_sentence = model.image.projection(chosen[0]), model.sentence.projection(chosen[1])
        if p.contexts_in_score:  # the product of [a'; m] and a matrix is a sum of two products
            of_image, of_sentence = of_image + model.image.context(m), of_sentence + model.sentence.context(n)
        of_image, of_sentence = scaled(of_image), scaled(of_sentence)
        s = of_image * of_sentence if p.comparison == "product" else torch.sigmoid(of_image + of_sentence)
        i, f, o, g = (model.gates.weight @ torch.cat((s, h)) + model.gates.bias).chunk(4)  # Eq 4
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    first, _, last = model.mlp
    score = (last.weight @ torch.sigmoid(first.weight @ h + first.bias) + last.bias).squeeze()
    if p.head == "cosine_and_mlp":
        x = model.embedding.weight @ image.views["whole"][0] + model.embedding.bias
        score = score + x @ n / (x.norm() * n.norm())
    return score, maps


def literal_matrix(model, batch):
    """Scores of all pairs of a batch, and the saliency of matched pairs."""
    pairs = range(len(SENTENCES))
    images = [Images({view: x[i : i + 1] for view, x in batch.images.views.items()}, None) for i in pairs]
    found = [[literal(model, image, words) for words in SENTENCES] for image in images]
    scores = torch.stack([torch.stack([score for score, _ in row]) for row in found])
    return scores, [found[i][i][1] for i in pairs]


def literal_loss(model, batch):
    """Eq 6 with the mismatched pairs that the batch has been given, and Eq 7."""
    p, size = model.hyperparameters, len(SENTENCES)
    scores, maps = literal_matrix(model, batch)
    loss = 0
    for i in range(size):
        for k in range(size):
            if 0 < (k - i) % size <= p.mismatched and not batch.positives[i, k]:
                loss = loss + (p.margin - scores[i, i] + scores[i, k]).clamp(min=0)
                loss = loss + (p.margin - scores[k, k] + scores[i, k]).clamp(min=0)
    for steps in maps if p.select == "attention" else []:
        for side in zip(*steps, strict=True):
            loss = loss + p.balance * (1 - sum(side)).square().mean()
    return loss / size


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_those_of_the_literal_loop(variant, steps):
    model, batch = build(**VARIANTS[variant], steps=steps), batch_of(*SENTENCES)
    images, sentences = model.encode_batch(batch)
    expected, maps = literal_matrix(model, batch)
    torch.testing.assert_close(model.score(images, sentences), expected)
    assert expected.std() > 0.01
    pairs = torch.arange(len(SENTENCES))
    saliency = model.saliency(images, sentences, pairs, pairs)
    for pair, found in enumerate(maps):
        for step, (cells, words) in enumerate(found):
            torch.testing.assert_close(saliency.places[step, pair], cells)
            torch.testing.assert_close(saliency.words[step, pair, : len(words)], words)
            assert (saliency.words[step, pair, len(words) :] == 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_loss_and_its_gradient_are_those_of_the_literal_loop(variant):
    model, batch = build(**VARIANTS[variant]), batch_of(*SENTENCES)
    batch.positives[0, 1] = batch.positives[1, 0] = True  # two sentences of one image
    loss, expected = loss_of(model, batch), literal_loss(model, batch)
    torch.testing.assert_close(loss, expected)
    weights = list(model.parameters())
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    wanted = torch.autograd.grad(expected, weights, allow_unused=True)
    for (name, weight), one, other in zip(model.named_parameters(), found, wanted, strict=True):
        none = torch.zeros_like(weight)
        torch.testing.assert_close(
            none if one is None else one,
            none if other is None else other,
            msg=lambda text, name=name: f"{name}: {text}",
        )
    learns_nothing = {name for (name, _), one in zip(model.named_parameters(), found, strict=True) if one is None}
    assert learns_nothing == set()


def test_pairs_that_cost_nothing_are_compared_once(monkeypatch):
    model, batch = build(1.5, balance=0.0), batch_of(*SENTENCES)
    compared, compare = [], model.compare
    monkeypatch.setattr(model, "compare", lambda *given: compared.append(len(given[2])) or compare(*given))
    encodings = model.encode_batch(batch)
    margin = 0.01
    loss = model.loss(*encodings, batch, Moment(1, "main", model.hyperparameters.model_copy(update={"margin": margin})))
    assert sum(compared) == 12  # 4 matched pairs, 2 mismatched sentences each
    scores = model.score(*encodings)
    compared.clear()
    matched = scores.diagonal()
    costs = (scores > matched[:, None] - margin) | (scores > matched - margin)
    candidates = compared_pairs(4, 2, CPU)
    mismatched = costs[candidates.image, candidates.sentence].view(4, 3)[:, 1:]
    assert 0 < mismatched.sum() < 8
    loss.backward()
    assert mismatched.sum() < sum(compared) <= mismatched.sum() + 4


def test_nothing_depends_on_how_many_pairs_are_computed_at_once():
    batch = batch_of(*SENTENCES)
    (one, of_one), (many, of_many) = (
        (loss := loss_of(model, batch), torch.autograd.grad(loss, list(model.parameters())))
        for model in (build(pairs_at_once=1), build(pairs_at_once=1000))
    )
    torch.testing.assert_close(one, many)
    for left, right in zip(of_one, of_many, strict=True):
        torch.testing.assert_close(left, right)


def test_mismatched_pairs_of_each_image_and_each_sentence():
    image, sentence, _, columns, left_out, each = compared_pairs(128, 100, CPU)
    assert each == 101
    assert torch.equal(image[::each], sentence[::each])
    assert torch.equal(columns.flatten(), sentence)
    compared = torch.zeros(128, 128).index_put_((image, sentence), torch.ones(()), accumulate=True)
    assert torch.equal(left_out, compared == 0)
    assert compared.max() == 1
    assert (compared.sum(dim=0) == 101).all()
    assert (compared.sum(dim=1) == 101).all()
    image, sentence, *_ = compared_pairs(3, 100, CPU)  # a batch with fewer
    assert sorted(zip(image.flatten().tolist(), sentence.flatten().tolist(), strict=True)) == [
        (i, j) for i in range(3) for j in range(3)
    ]


def test_as_printed_neither_context_nor_step_changes_the_saliency():
    """Eq 2 as printed, under the softmax of Eq 1: the reason why it is repaired."""
    batch = batch_of(*SENTENCES)
    other = Batch(Images({**batch.images.views, "whole": -batch.images.views["whole"]}, None), batch.sentences, None)
    pairs, partners = torch.arange(4), torch.tensor([1, 2, 3, 0])
    changed = {}
    for kind in ("printed", "repaired"):
        model = build(attention=kind)
        found = [
            model.saliency(*model.encode_batch(given), pairs, sentence).places
            for given, sentence in ((batch, pairs), (batch, partners), (other, pairs))
        ]
        changed[kind] = [
            (found[0] - found[0][:1]).abs().max(),  # from step to step
            (found[0] - found[1]).abs().max(),  # with another sentence
            (found[0] - found[2]).abs().max(),  # with another context
        ]
    assert max(changed["printed"]) < 1e-12
    assert min(changed["repaired"]) > 1e-3


def test_the_state_moves_attention_as_it_is_told():
    model, batch = build(steps=3), batch_of(*SENTENCES)
    rows = torch.arange(len(SENTENCES))

    def steps_of(state):
        told = SMLSTM(Parameters(**{**SMALL, "steps": 3, "state": state}), SHAPES).double()
        told.load_state_dict(model.state_dict())
        return told.saliency(*told.encode_batch(batch), rows, rows).places

    given, scaled_up, none = map(steps_of, ("given", "scaled", "none"))
    torch.testing.assert_close(none, none[:1].expand_as(none))
    assert (given[1] - given[0]).abs().max() > 1e-3
    assert (scaled_up[1] - scaled_up[0]).norm() > (given[1] - given[0]).norm()
    torch.testing.assert_close(given[0], none[0])


def test_the_regulariser_as_printed_is_constant_and_squared_it_is_not():
    model, batch = build(), batch_of(*SENTENCES)
    pairs = torch.arange(4)
    images, sentences = model.encode_batch(batch)
    saliency = model.saliency(images, sentences, pairs, pairs)
    lengths = sentences.present.sum(dim=1)
    printed = regulariser(saliency, sentences.present, "printed")
    torch.testing.assert_close(printed, (2 - 3 / 6 - 3 / lengths.double()).mean())
    attention_weights = list(model.image.attention.parameters())
    for gradient in torch.autograd.grad(printed, attention_weights, retain_graph=True):
        torch.testing.assert_close(gradient, torch.zeros_like(gradient))
    squared = regulariser(saliency, sentences.present, "squared")
    assert torch.autograd.grad(squared, attention_weights)[0].abs().max() > 1e-4


def test_the_squared_regulariser_is_least_where_attention_is_uniform():
    present = torch.ones(1, 4, dtype=torch.bool)
    uniform, sharp = torch.full((3, 1, 4), 0.25), torch.eye(4)[:1].expand(3, 1, 4)
    spread = torch.eye(4)[:3, None]  # another instance at each step
    costs = [regulariser(Saliency("grid", maps, maps), present, "squared") for maps in (uniform, spread, sharp)]
    torch.testing.assert_close(torch.stack(costs), 2 * torch.tensor([1 / 16, 1 / 4, 7 / 4]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sentence_scores_the_same_in_any_batch(variant):
    model = build(**VARIANTS[variant])
    images = model.encode_images(images_of(2))
    together = model.score(images, model.encode_sentences(sentences_of(*SENTENCES)))
    for column, words in enumerate(SENTENCES):
        alone = model.score(images, model.encode_sentences(sentences_of(words)))
        torch.testing.assert_close(together[:, column : column + 1], alone)


def test_a_long_sentence_is_cut_after_fifty_words():
    model = build()
    images = model.encode_images(images_of(2))
    words = [2 + place % 10 for place in range(300)]
    long, cut, shorter = (
        model.score(images, model.encode_sentences(sentences_of(words[:length]))) for length in (300, 50, 49)
    )
    torch.testing.assert_close(long, cut)
    assert (cut - shorter).abs().max() > 1e-8


def test_an_image_of_one_cell_and_a_sentence_of_one_word():
    model, batch = build(), batch_of((2,), (3,), cells=1)
    images, sentences = model.encode_batch(batch)
    saliency = model.saliency(images, sentences, torch.arange(2), torch.arange(2))
    assert (saliency.places == 1).all()
    assert (saliency.words == 1).all()
    assert torch.isfinite(model.score(images, sentences)).all()
    loss_of(model, batch).backward()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())


def test_one_pair_has_nothing_to_contrast():
    model = build(balance=0.0)
    loss = loss_of(model, batch_of((2, 3)))
    loss.backward()
    assert loss == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 0},
        {"balance": -1},
        {"select": "all"},
        {"attention": "soft"},
        {"heads": 2},
        {"head": "cosine"},
        {"longest": 0},
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(changes):
    with pytest.raises(ValidationError, match=next(iter(changes))):
        Parameters(**changes)


def test_contexts_join_no_contexts():
    with pytest.raises(ValueError, match="contexts_in_score: with select: context"):
        Parameters(contexts_in_score=True, select="context")


def test_views_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="grid and whole"):
        SMLSTM(Parameters(**SMALL), Shapes({"whole": 9}, 12))


def test_the_sentence_context_begins_as_that_of_a_vse():
    torch.manual_seed(1)
    vse = VSE(VSEParameters(dimension=6, word_dimension=4), Shapes({"whole": 9}, 12)).double()
    model, sentences = build(), sentences_of(*SENTENCES)
    model.start_from("vse", vse.state_dict())
    ours, theirs = [], []
    model.context.register_forward_hook(lambda *given: ours.append(given[-1]))
    vse.sentence.register_forward_hook(lambda *given: theirs.append(given[-1]))
    model.encode_sentences(sentences)
    vse.encode_sentences(sentences)
    torch.testing.assert_close(ours, theirs)
    weights = {name: weight.clone() for name, weight in vse.state_dict().items()}
    loss_of(model, batch_of(*SENTENCES)).backward()
    torch.optim.SGD(model.parameters(), 0.1).step()
    torch.testing.assert_close(dict(vse.state_dict()), weights)  # it has a copy


@pytest.mark.parametrize("variant", ["full", "mean", "att", "ctx"])
def test_with_a_cosine_the_scores_begin_as_those_of_a_vse(variant):
    torch.manual_seed(1)
    vse = VSE(VSEParameters(dimension=6, word_dimension=4), Shapes({"whole": 9}, 12)).double()
    vse.image.bias.data.normal_()  # the cosine needs the vectors of images at their own scale
    model = SMLSTM(Parameters(**{**SMALL, **VARIANTS[variant], "head": "cosine_and_mlp"}), SHAPES).double()
    model.start_from("vse", vse.state_dict())
    images, sentences = images_of(3), sentences_of(*SENTENCES)
    expected = vse.score(vse.encode_images(images), vse.encode_sentences(sentences))
    scores = model.score(model.encode_images(images), model.encode_sentences(sentences))
    torch.testing.assert_close(scores, expected)


def test_the_multimodal_lstm_learns_from_a_score_that_begins_as_a_cosine():
    """Its gradient is 0 in the first step alone, in which only the last layer learns."""
    torch.manual_seed(0)
    model, batch = SMLSTM(Parameters(**SMALL, head="cosine_and_mlp"), SHAPES).double(), batch_of(*SENTENCES)
    optimiser, first = torch.optim.SGD(model.parameters(), 0.1), model.gates.weight.detach().clone()
    for step in range(2):
        optimiser.zero_grad()
        loss_of(model, batch, balance=0.0).backward()
        optimiser.step()
        assert torch.equal(model.gates.weight, first) == (step == 0)


def test_a_start_that_does_not_fit_is_refused():
    of_other_size = VSE(VSEParameters(dimension=7, word_dimension=4), Shapes({"whole": 9}, 12)).state_dict()
    with pytest.raises(ValueError, match=r"context_dimension.*sentence\.weight_input would be .*24, 4.* has .*28, 4"):
        build().start_from("vse", of_other_size)
    bag = VSE(VSEParameters(dimension=6, word_dimension=4, encoder="bag_of_words"), Shapes({"whole": 9}, 12))
    with pytest.raises(ValueError, match="has none"):
        build().start_from("vse", bag.state_dict())
    normalised = VSE(VSEParameters(dimension=6, word_dimension=4, branches="normalised"), Shapes({"whole": 9}, 12))
    with pytest.raises(ValueError, match=r"branches are plain.*image\.weight would be .*6, 9.* has none"):
        build(head="cosine_and_mlp").start_from("vse", normalised.state_dict())
    with pytest.raises(ValueError, match="has no sentence context"):
        build(select="mean").start_from("vse", of_other_size)


@pytest.mark.slow
@pytest.mark.parametrize("variant", first_now(VARIANTS))
def test_learning_makes_pairs_closest(variant):
    model, batch = build(spread=0.1, balance=0.1, **VARIANTS[variant]).float(), batch_of(*SENTENCES)
    batch = Batch(Images({k: v.float() for k, v in batch.images.views.items()}, None), batch.sentences, batch.positives)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(80):
        optimizer.zero_grad()
        loss_of(model, batch, mismatched=100).backward()
        optimizer.step()
    scores = model.eval().score(*model.encode_batch(batch))
    assert scores.argmax(0).tolist() == scores.argmax(1).tolist() == [0, 1, 2, 3]


def test_dropout_acts_in_training_only():
    model, batch = build(dropout=0.5), batch_of(*SENTENCES)
    assert loss_of(model, batch) != loss_of(model, batch)
    model.eval()
    assert loss_of(model, batch) == loss_of(model, batch)


def test_extreme_states_stay_finite():
    layer = attention.Attention(4, 3, 5, 6)
    pairs = Grouped.from_owners(torch.arange(2))
    keys = layer.keys(torch.tensor([[[1e6] * 4], [[-1e6] * 4]]), torch.zeros(2, 3))
    assert torch.isfinite(layer.logits(keys, torch.full((2, 5), 1e6), pairs)).all()


def test_training_does_not_saturate_attention():
    """As it did where a step of Adam moved the sum of Eq 2 by more than 1: then no candidate differs from another."""
    torch.manual_seed(0)
    layer = attention.Attention(1000, 1000, 50, 20)
    cells, context = torch.rand(8, 5, 1000), torch.rand(8, 1, 1000)
    optimiser = torch.optim.Adam(layer.parameters(), 0.002)
    for _ in range(20):
        salience = torch.tanh(layer.candidate(cells) + layer.context(context))
        optimiser.zero_grad()
        (-salience @ layer.weight).mean().backward()
        optimiser.step()
    assert (1 - salience.square()).mean() > 0.2

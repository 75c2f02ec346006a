"""DeFrag against loops over fragments that read its equations literally, in double precision."""

import numpy as np
import pytest
import torch
from torch import Tensor

from densevse.kernels import fragment_sums
from densevse.kernels.fragment_sums import sums_of_scores
from densevse.methods.defrag import DeFrag, fragment_alignment, multiple_instance_labels
from densevse.methods.fragments import bag_of_words, bigrams, drop_unknown_words
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.defrag import Parameters
from densevse.methods.structures import Triplets, Words

WORDS, RELATIONS, FEATURE, DIMENSION, VECTOR = 12, 3, 6, 5, 4
TRIPLETS = [2, 0, 3, 1]  # of each sentence: the second has none
REGIONS = [3, 1, 4, 2]  # of each image: the second has its full frame only


def images(counts=REGIONS, seed=0, detections=()):
    """Images with random vectors; `detections` (I, R - 1) are the scores of regions after the full frame."""
    torch.manual_seed(seed)
    present = torch.arange(max(counts)) < torch.tensor(counts).unsqueeze(1)
    vectors = torch.randn(*present.shape, FEATURE, dtype=torch.double) * present.unsqueeze(2)
    scores = torch.cat((torch.full((len(counts), 1), torch.inf), torch.tensor(detections)), 1) if detections else None
    return Images({"regions": vectors}, present, scores)


def sentences(counts=TRIPLETS, seed=0):
    generator = torch.Generator().manual_seed(seed)
    total = sum(counts)
    relation = torch.randint(RELATIONS, (total,), generator=generator)
    governor, dependent = torch.randint(2, WORDS, (2, total), generator=generator)
    return Sentences({"triplets": Triplets(*map(np.asarray, (relation, governor, dependent, counts)))})


def batch(positives=None):
    return Batch(images(), sentences(), torch.eye(4, dtype=torch.bool) if positives is None else positives)


def make(**parameters):
    torch.manual_seed(3)
    vectors = torch.randn(WORDS, VECTOR)
    vectors[:2] = 0
    return DeFrag(
        Parameters(dimension=DIMENSION, **parameters),
        Shapes({"regions": FEATURE}, WORDS, vectors, {"relations": RELATIONS}),
    ).double()


def encoded(method, of):
    return method.encode_images(of.images), method.encode_sentences(of.sentences)


def loss(method, of, **phase):
    parameters = Parameters(**{**method.hyperparameters.model_dump(), **phase})
    return method.loss(*encoded(method, of), of, Moment(1, "phase", parameters))


def literal_fragments(method, of):
    """Lists of v for each image and of s for each sentence: Eq 1 and 2, a fragment at a time."""
    v = [
        [method.image.weight @ vector + method.image.bias for vector in vectors[:count]]
        for vectors, count in zip(of.images.views["regions"], of.images.present.sum(dim=1), strict=True)
    ]
    s, triplets, t = [], of.sentences["triplets"], 0
    for count in triplets.lengths:
        s.append([])
        for _ in range(count):
            relation = triplets.relation[t]
            w1, w2 = (method.words.weight[word[t]] for word in (triplets.governor, triplets.dependent))
            both = torch.cat((w1, w2))
            s[-1].append((method.sentence.weight[relation] @ both + method.sentence.bias[relation]).clamp(min=0))
            t += 1
    return v, s


def literal_scores(v, s, n, score="sum", truncated=None):
    """Eq 6 or 6'; only Eq 6 truncates, unless it is told."""
    zero = torch.zeros((), dtype=torch.double)
    least = 0 if truncated or (truncated is None and score == "sum") else -torch.inf

    def pair(gk, gl):
        products = [[(vi @ sj).clamp(min=least) for vi in gk] for sj in gl]
        if score == "best_region":
            return sum((max(of_fragment) for of_fragment in products), zero) / (len(gl) + n)
        return sum((product for of_fragment in products for product in of_fragment), zero) / (len(gk) * (len(gl) + n))

    return torch.stack([torch.stack([pair(gk, gl) for gl in s]) for gk in v])


def literal_labels(v, s, positives, bags):
    """The y of Eq 4 or, with `bags`, of Eq 5, as {(image, i, sentence, j): y}."""
    y = {}
    for sentence, own in enumerate(s):
        for j, sj in enumerate(own):
            bag = {
                (k, i): (vi @ sj).item() for k in range(len(v)) if positives[k, sentence] for i, vi in enumerate(v[k])
            }
            for k in range(len(v)):
                for i in range(len(v[k])):
                    y[k, i, sentence, j] = 1 if (k, i) in bag and (not bags or bag[k, i] > 0) else -1
            if all(y[k, i, sentence, j] == -1 for k, i in bag):
                best = max(bag.values())
                y.update({(k, i, sentence, j): 1 for (k, i), score in bag.items() if score == best})
    return y


def literal_alignment(v, s, y, terms):
    """Eq 4: the sum, or the means of both kinds of terms."""
    hinges = {at: (1 - sign * v[at[0]][at[1]] @ s[at[2]][at[3]]).clamp(min=0) for at, sign in y.items()}
    kinds = [[hinges[at] for at in y if y[at] == sign] for sign in (1, -1)]
    return sum(sum(kind) / (len(kind) if terms == "mean" else 1) for kind in kinds)


def literal_ranking(scores, positives, margin, terms):
    """Eq 7, without the terms l = k, which are constant, and without other true pairs."""
    total, count = torch.zeros((), dtype=torch.double), 0
    for k in range(len(scores)):
        for other in range(len(scores)):
            if not positives[k, other]:
                total = total + (scores[k, other] - scores[k, k] + margin).clamp(min=0)
                total = total + (scores[other, k] - scores[k, k] + margin).clamp(min=0)
                count += 2
    return total / count if terms == "mean" else total


def gradients(value: Tensor, method) -> list[Tensor]:
    return torch.autograd.grad(value, [w for w in method.parameters() if w.requires_grad], allow_unused=True)


AN_IMAGE_TWICE = torch.eye(4, dtype=torch.bool)
AN_IMAGE_TWICE[0, 2] = AN_IMAGE_TWICE[2, 0] = True
POSITIVES = {"matched pairs only": torch.eye(4, dtype=torch.bool), "an image twice": AN_IMAGE_TWICE}


@pytest.mark.parametrize("positives", POSITIVES.values(), ids=POSITIVES.keys())
@pytest.mark.parametrize("terms", ["mean", "sum"])
@pytest.mark.parametrize(
    ("objective", "beta", "score", "truncated"),
    [
        ("none", 0.7, "sum", None),
        ("dense", 0.0, "sum", None),
        ("dense", 0.7, "sum", None),
        ("multiple_instance", 0.0, "sum", None),
        ("multiple_instance", 0.7, "sum", None),
        ("none", 0.7, "best_region", None),
        ("multiple_instance", 0.7, "best_region", None),
        ("dense", 0.7, "sum", False),
        ("dense", 0.7, "best_region", True),
    ],
)
def test_loss_and_gradients_equal_the_literal_loop(positives, terms, objective, beta, score, truncated):
    method, of = make(margin=0.3, terms=terms, score=score, truncated=truncated), batch(positives)
    ours = loss(method, of, fragment_objective=objective, beta=beta)
    v, s = literal_fragments(method, of)
    expected = torch.zeros((), dtype=torch.double)
    if objective != "none":
        y = literal_labels(v, s, positives, bags=objective == "multiple_instance")
        expected = expected + literal_alignment(v, s, y, terms)
    expected = expected + beta * literal_ranking(literal_scores(v, s, 5, score, truncated), positives, 0.3, terms)
    torch.testing.assert_close(ours, expected)
    for one, other in zip(gradients(ours, method), gradients(expected, method), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("scores_at_once", "fragments_at_once"), [(1, 1), (40, 3), (40, 1 << 11), (1 << 20, 1 << 11)])
@pytest.mark.parametrize("smoothing", [0.0, 5.0])
@pytest.mark.parametrize("score", ["sum", "best_region"])
@pytest.mark.parametrize("truncated", [None, False, True])
def test_scores_of_all_pairs_equal_the_literal_loop(
    monkeypatch, scores_at_once, fragments_at_once, smoothing, score, truncated
):
    monkeypatch.setattr(fragment_sums, "SCORES_AT_ONCE", scores_at_once)
    monkeypatch.setattr(fragment_sums, "FRAGMENTS_AT_ONCE", fragments_at_once)
    method, of = make(smoothing=smoothing, score=score, truncated=truncated), batch()
    v, s = literal_fragments(method, of)
    if smoothing == 0:
        s[1] = [torch.zeros(DIMENSION, dtype=torch.double)]  # no fragment: 0, and not 0 / 0
    with torch.inference_mode():
        expected = literal_scores(v, s, smoothing, score, truncated)
        torch.testing.assert_close(method.score(*encoded(method, of)), expected)


DETECTIONS = [[0.9, 0.4, 0.0], [0.0, 0.0, 0.0], [0.6, 0.5, 0.2], [0.3, 0.0, 0.0]]
"""Scores of the detections of `REGIONS`, where an image has them."""


@pytest.mark.parametrize(
    ("threshold", "least", "kept"),
    [
        (None, 0, [3, 1, 4, 2]),
        (0.5, 0, [2, 1, 3, 1]),
        (0.5, 1, [2, 1, 3, 2]),
        (2, 0, [1, 1, 1, 1]),
        (2, 2, [3, 1, 3, 2]),
    ],
)
def test_a_threshold_leaves_the_full_frame_and_the_best_detections(threshold, least, kept):
    """Regions below it change no score: the model ranks as if images had no others."""
    method = make(threshold=threshold, least_detections=least)
    every = images(detections=DETECTIONS)
    found = method.encode_images(every)
    assert found.present.sum(dim=1).tolist() == kept
    v, s = literal_fragments(method, batch())
    v = [regions[:count] for regions, count in zip(v, kept, strict=True)]
    with torch.inference_mode():
        scores = method.score(found, method.encode_sentences(sentences()))
        torch.testing.assert_close(scores, literal_scores(v, s, 5))


def test_a_threshold_needs_detections():
    shapes = Shapes({"whole": FEATURE}, WORDS, torch.randn(WORDS, VECTOR), {"relations": RELATIONS})
    with pytest.raises(ValueError, match="threshold: the view whole has no detections"):
        DeFrag(Parameters(dimension=DIMENSION, threshold=0.5), shapes)


def test_the_least_detections_need_a_threshold():
    with pytest.raises(ValueError, match="least_detections: without a threshold"):
        Parameters(least_detections=3)


def test_gradcheck():
    torch.manual_seed(0)
    scores = torch.randn(6, 5, dtype=torch.double, requires_grad=True)
    image, sentence = torch.tensor([0, 0, 1, 1, 1, 2]), torch.tensor([0, 0, 1, 2, 2])
    bags = torch.eye(3, dtype=torch.bool)[image][:, sentence]
    regions = np.arange(3) < np.array([[2], [3], [1]])
    assert torch.autograd.gradcheck(lambda x: sums_of_scores(x, regions, image, sentence, 3, truncated=True), scores)
    for labels in (bags, multiple_instance_labels(scores, bags)):
        for terms in ("mean", "sum"):
            assert torch.autograd.gradcheck(lambda x, y=labels, t=terms: fragment_alignment(x, y, t), scores)


def test_gradcheck_of_the_whole_method():
    method, of = make(fragment_objective="multiple_instance"), batch()
    weights = [w for w in method.parameters() if w.requires_grad]
    assert torch.autograd.gradcheck(lambda *_: loss(method, of), weights)


def test_every_bag_has_a_positive_and_the_highest_if_all_are_negative():
    scores = torch.tensor([[0.5, -2.0, 3.0], [-0.1, -1.0, 1.0], [4.0, 5.0, -3.0]])
    bags = torch.tensor([[True, True, False], [True, True, False], [False, False, True]])
    labels = multiple_instance_labels(scores, bags)
    assert labels.tolist() == [[True, False, False], [False, True, False], [False, False, True]]


def test_signs_come_from_the_current_scores_and_carry_no_gradient():
    scores = torch.tensor([[0.5], [-0.5]], requires_grad=True)
    labels = multiple_instance_labels(scores, torch.ones(2, 1, dtype=torch.bool))
    assert labels.tolist() == [[True], [False]]
    assert not labels.requires_grad
    assert multiple_instance_labels(-scores, torch.ones(2, 1, dtype=torch.bool)).tolist() == [[False], [True]]


def test_a_sentence_without_triplets_scores_zero_with_every_image_and_has_no_gradient():
    method, of = make(), batch()
    scores = method.score(*encoded(method, of))
    assert (scores[:, 1] == 0).all()
    assert (scores[:, [0, 2, 3]] != 0).any()
    nothing = Batch(images(), sentences([0, 0, 0, 0]), torch.eye(4, dtype=torch.bool))
    value = loss(method, nothing, fragment_objective="multiple_instance")
    value.backward()
    assert value.item() == pytest.approx(method.hyperparameters.margin)
    assert method.image.weight.grad.abs().sum() == 0


def test_three_hundred_words_beside_three():
    method = make()
    long, short = sentences([300], seed=1), sentences([3], seed=2)
    both = {
        name: np.concatenate([getattr(one["triplets"], name) for one in (long, short)])
        for name in ("relation", "governor", "dependent", "lengths")
    }
    of_images = method.encode_images(images())
    together = method.score(of_images, method.encode_sentences(Sentences({"triplets": Triplets(**both)})))
    alone = [method.score(of_images, method.encode_sentences(one)) for one in (long, short)]
    torch.testing.assert_close(together, torch.cat(alone, dim=1))


def test_unknown_words_drop_their_triplets():
    triplets = Triplets(*np.array([[0, 1, 2], [2, 1, 3], [3, 4, 0]]), np.array([2, 1]))
    known = np.array([False, False, True, True, True])
    kept = drop_unknown_words(triplets, known)
    assert kept.relation.tolist() == [0]
    assert kept.lengths.tolist() == [1, 0]


def test_a_word_without_pretrained_vector_is_unknown():
    vectors = torch.ones(4, VECTOR)
    vectors[[0, 1, 3]] = 0
    method = DeFrag(Parameters(dimension=2), Shapes({"regions": 3}, 4, vectors, {"relations": 1}))
    assert method.known.tolist() == [False, False, True, False]


def test_a_bag_of_words_and_bigrams():
    words = Words(torch.tensor([[5, 6, 7], [8, 0, 0], [9, 4, 0]]), torch.tensor([3, 1, 2]))
    bag = bag_of_words(words)
    assert bag.governor.tolist() == bag.dependent.tolist() == [5, 6, 7, 8, 9, 4]
    assert bag.lengths.tolist() == [3, 1, 2]
    pairs = bigrams(words)
    assert list(zip(pairs.governor.tolist(), pairs.dependent.tolist(), strict=True)) == [(5, 6), (6, 7), (9, 4)]
    assert pairs.lengths.tolist() == [2, 0, 1]
    assert bag.relation.sum() == pairs.relation.sum() == 0


@pytest.mark.parametrize("fragments", ["words", "bigrams"])
def test_other_fragments_are_of_one_relation(fragments):
    method = make(fragments=fragments)
    assert len(method.sentence.weight) == 1
    words = Sentences({"words": Words(torch.tensor([[5, 6, 7], [8, 1, 0]]), torch.tensor([3, 2]))})
    vectors, present = method.encode_sentences(words)
    assert (
        present.tolist()
        == {
            "words": [[True, True, True], [True, False, False]],
            "bigrams": [[True, True], [False, False]],
        }[fragments]
    )
    assert vectors.shape == (2, present.shape[1], DIMENSION)


def test_full_frame_only_is_one_fragment_an_image():
    shapes = Shapes({"whole": FEATURE}, WORDS, torch.randn(WORDS, VECTOR), {"relations": RELATIONS})
    method = DeFrag(Parameters(dimension=DIMENSION), shapes)
    vectors, present = method.encode_images(Images({"whole": torch.randn(3, FEATURE)}, torch.ones(3, 0)))
    assert vectors.shape == (3, 1, DIMENSION)
    assert present.all()


def test_alignment_is_the_best_region_that_exists():
    method = make()
    regions = torch.tensor([[[1.0, 0.0], [2.0, 0.0], [9.0, 9.0]]]).double()
    region, score = method.assign(regions, torch.tensor([[True, True, False]]), torch.tensor([[3.0, 1.0]]).double())
    assert (region.tolist(), score.tolist()) == ([1], [6.0])


@pytest.mark.parametrize("relation", range(RELATIONS))
def test_every_relation_has_weights_of_its_own(relation):
    method, triplets = make(), sentences()["triplets"]
    before = method.embed_triplets(triplets)
    with torch.no_grad():
        method.sentence.bias[relation] += 10
    changed = (method.embed_triplets(triplets) != before).any(dim=1)
    assert np.array_equal(changed, triplets.relation == relation)


def test_some_objective_must_be_left():
    with pytest.raises(ValueError, match="no objective is left"):
        Parameters(fragment_objective="none", beta=0)


def test_fragments_of_unit_norm():
    """v and s as Eq 1 and 2 give them, each over its norm; a fragment of zeros stays so."""
    plain, unit = make(), make(unit_norm=True)
    for of_plain, of_unit in zip(encoded(plain, batch()), encoded(unit, batch()), strict=True):
        norms = of_plain.vectors.norm(dim=2, keepdim=True)
        torch.testing.assert_close(of_unit.vectors, of_plain.vectors / norms.clamp(min=1e-12))


def test_dropout_is_of_training_alone():
    method, plain = make(dropout=0.5), make()
    method.eval()
    assert all(map(torch.equal, encoded(method, batch())[0], encoded(plain, batch())[0]))
    method.train()
    regions, words = (part.vectors for part in encoded(method, batch()))
    assert not torch.equal(regions, encoded(plain, batch())[0].vectors)
    assert not torch.equal(words, encoded(plain, batch())[1].vectors)


def test_the_hardest_negatives_of_the_global_objective():
    """Eq 7 with the maximum in place of each sum; the mean is over both directions of the matched pairs."""
    method = make(fragment_objective="none", negatives="hardest", margin=0.3, terms="mean")
    scores = method.score(*encoded(method, batch()))
    total = sum(
        max(max(0.0, (line[j] - line[i] + 0.3).item()) for j in range(4) if j != i)
        for i in range(4)
        for line in (scores[i], scores[:, i])
    )
    assert loss(method, batch()).item() == pytest.approx(total / 8)

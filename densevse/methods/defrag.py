"""DeFrag (Karpathy, Joulin, Li, NIPS 2014): fragments of images and of sentences, aligned in one space.

Image fragments are detections and the whole image, sentence fragments are typed dependencies (R, w1, w2). An image k
and a sentence l score by the inner products of all their fragments, those of g_k with those of g_l:

    s = f(W_R [W_e w1, W_e w2] + b_R)                                                            (1)
    v = W_m [CNN(I_b)] + b_m                                                                     (2)
    C = C_F + beta C_G + alpha ||Theta||^2                                                       (3)
    C_0 = sum_i sum_j max(0, 1 - y_ij v_i . s_j)                                                 (4)
    C_F = min_y C_0, with sum_{i in p_j} (y_ij + 1) / 2 >= 1 in the positive bag p_j of each j   (5)
    S_kl = 1 / (|g_k| (|g_l| + n)) sum_{i in g_k} sum_{j in g_l} max(0, v_i . s_j)               (6)
    C_G = sum_k [ sum_l max(0, S_kl - S_kk + Delta) + sum_l max(0, S_lk - S_kk + Delta) ]        (7)

Choices where the paper is silent: about one term of Eq 4 in a hundred has y = +1 (those of a batch's matched pairs), so
`terms: mean` averages the terms of each sign separately, and Eq 7 over its contrastive pairs; `terms: sum` is the
printed sum. The last term of Eq 3, alpha times the squared norm of all weights, is the optimizer's weight decay of 2
alpha. The paper gives no alpha; it is 0 unless a data set's configuration sets it. `feature_norm` scales the CNN's
vectors of Eq 2 to a mean norm.

Ours, `score: best_region` is the score of the same authors' next paper (Karpathy, Fei-Fei, CVPR 2015, Eq 8), with the
normaliser of this one; the code that they published for DeFrag has it as an option:

    S_kl = 1 / (|g_l| + n) sum_{j in g_l} max_{i in g_k} v_i . s_j                               (6')

`truncated` puts max(0, .) around the products of Eq 6', or takes it from those of Eq 6. Ours too are `dropout`,
`unit_norm`, and the other losses of S_kl that `negatives` names.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.arrays import Booleans
from densevse.kernels.fragment_sums import (
    ByRelation,
    LinearByRelation,
    existing_fragments,
    masks_on_host,
    owners,
    sums_of_all_pairs,
    sums_of_scores,
)
from densevse.methods.fragments import (
    Fragments,
    bag_of_words,
    bigrams,
    drop_unknown_words,
    image_fragments,
    length_mask,
)
from densevse.methods.global_ranking import FixedNorm, GlobalRanking, sure_regions
from densevse.methods.interface import Batch, Images, Method, Moment, Sentences, Shapes
from densevse.methods.moving import to_device
from densevse.methods.parameters.defrag import Parameters
from densevse.methods.parts import known_words, word_vectors
from densevse.methods.structures import Triplets

Terms = Literal["mean", "sum"]


class PlannedFragments(NamedTuple):
    """The n fragments of a batch of sentences, sentence after sentence."""

    words: Tensor  # (n, 2) w1 and w2
    by_relation: ByRelation  # their order by R
    place: Tensor  # (n,) the place of each in a table (S, longest)
    sentence: Tensor  # (n,) the sentence of each
    present: Tensor  # (S, longest) bool: the places that have one

    def pad_rows(self, rows: Tensor) -> Tensor:
        """Rows (n, H) in a table (S, longest, H), zero elsewhere."""
        table = rows.new_zeros(self.present.numel(), rows.shape[1]).index_copy(0, self.place, rows)
        return table.view(*self.present.shape, rows.shape[1])

    def unpad_rows(self, table: Tensor) -> Tensor:
        """The inverse of `pad_rows`."""
        return table.flatten(0, 1).index_select(0, self.place)


class DeFrag(Method):
    """Deep fragment embeddings. A sentence without fragments scores 0 with every image."""

    images_as = Fragments

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` for a threshold of detections where the full frame is the only region."""
        super().__init__(parameters, shapes)
        ((view, features),) = shapes.features.items()
        if view == "whole" and parameters.threshold is not None:
            raise ValueError("threshold: the view whole has no detections; remove it, or read the view regions")
        self.network = unfreeze_layers(shapes.network, parameters.trained_layers)
        relations = shapes.sizes["relations"] if parameters.fragments == "triplets" else 1
        self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.register_buffer("known", known_words(self.words))
        self._known_on_host: tuple[Tensor, int, Booleans] | None = None
        self.sentence = LinearByRelation(relations, 2 * self.words.embedding_dim, parameters.dimension, bias=True)
        self.fixed_norm = FixedNorm(parameters.feature_norm)
        self.image = nn.Linear(features, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = GlobalRanking(parameters.negatives, parameters.temperature)

    known: Tensor

    def known_on_host(self) -> Booleans:
        """(words,) `known` as a NumPy array, copied from the device once and again only after it changed."""
        kept = self._known_on_host
        if kept is None or kept[0] is not self.known or kept[1] != self.known._version:
            kept = self._known_on_host = self.known, self.known._version, self.known.cpu().numpy()
        return kept[2]

    @torch.no_grad()
    def measure(self, images: Images) -> None:
        """Measures the norm of the regions' vectors."""
        if self.fixed_norm.norm is not None:
            vectors, present = self._regions(images)
            self.fixed_norm.measure(vectors[present])

    def encode_images(self, images: Images) -> Fragments:
        """The v of every region, Eq 2, or of those that the threshold leaves."""
        vectors, present = self._regions(images)
        return Fragments(self.embed_regions(vectors) * present.unsqueeze(2), present)

    def plan(self, sentences: Sentences) -> PlannedFragments:
        """The fragments of a batch whose words are known."""
        fragments = drop_unknown_words(self._fragments(sentences), self.known_on_host())
        present = length_mask(fragments.lengths)
        arrays = np.flatnonzero(present), owners(fragments.lengths), present
        return PlannedFragments(*self._words_and_relations(fragments), *map(torch.from_numpy, arrays))

    def encode_sentences(self, sentences: Sentences) -> Fragments:
        """The s of every fragment whose words are known, Eq 1."""
        planned: PlannedFragments = self.device_plan(sentences)
        return Fragments(planned.pad_rows(self._embed(planned.words, planned.by_relation)), planned.present)

    def embed_regions(self, regions: Tensor) -> Tensor:
        """(n, dimension) v of (n, D) features, Eq 2."""
        return self._scale(self.image(self.dropout(self.fixed_norm(regions))))

    def embed_triplets(self, triplets: Triplets) -> Tensor:
        """(T, dimension) s of triplets (R, w1, w2), Eq 1."""
        return self._embed(*to_device(self._words_and_relations(triplets), self.known.device))

    def score(self, images: Fragments, sentences: Fragments) -> Tensor:
        """(I, S) S_kl of Eq 6 or 6'."""
        sums = sums_of_all_pairs(*images, *sentences, **self.hyperparameters.sum_options)
        return sums / _normaliser(images.present, sentences.present, self.hyperparameters)

    def loss(self, images: Fragments, sentences: Fragments, batch: Batch, moment: Moment) -> Tensor:
        """C of Eq 3 over the fragments and the pairs of a batch, without its last term: a scalar."""
        parameters: Parameters = moment.parameters
        planned: PlannedFragments = self.device_plan(batch.sentences)
        in_image = self._counted_regions(images, batch)
        regions, image = existing_fragments(images.vectors, in_image)
        fragments, sentence = planned.unpad_rows(sentences.vectors), planned.sentence
        scores = regions @ fragments.T
        total = scores.new_zeros(())
        if parameters.fragment_objective != "none":
            labels = batch.positives[image][:, sentence]  # y_ij of C_0
            if parameters.fragment_objective == "multiple_instance":
                labels = multiple_instance_labels(scores, labels)
            total = total + fragment_alignment(scores, labels, parameters.terms)
        if parameters.beta > 0:
            sums = sums_of_scores(scores, in_image, image, sentence, len(sentences.present), **parameters.sum_options)
            of_pairs = sums / _normaliser(images.present, sentences.present, parameters)  # Eq 6
            total = total + parameters.beta * self.ranking(of_pairs, batch.positives, parameters)
        return total

    def assign(self, regions: Tensor, present: Tensor, phrases: Tensor) -> tuple[Tensor, Tensor]:
        """The best region of each sentence fragment and its score, as Figure 4 shows them.

        Takes (T, R, dimension) vectors of the regions of each fragment's image, of which `present` (T, R) exist, and
        the fragments' vectors, `phrases` (T, dimension). Returns (T,) regions and (T,) scores.
        """
        scores = torch.einsum("trd,td->tr", regions, phrases).masked_fill(~present, -torch.inf)
        best, region = scores.max(dim=1)
        return region, best

    def _regions(self, images: Images) -> tuple[Tensor, Tensor]:
        """(I, R, D) vectors of regions, and which of them count: those that the threshold leaves."""
        vectors, present = image_fragments(images, self.network)
        if self.hyperparameters.threshold is not None:
            present = sure_regions(images, self.hyperparameters.threshold, self.hyperparameters.least_detections)
        return vectors, present

    def _counted_regions(self, images: Fragments, batch: Batch) -> Booleans:
        """(I, R) the regions that count; the device is waited for only if a threshold leaves some out there."""
        if "regions" in self.shapes.features and self.hyperparameters.threshold is None:
            return batch.images.present_on_host()
        return masks_on_host(images.present)[0]

    def _words_and_relations(self, triplets: Triplets) -> tuple[Tensor, ByRelation]:
        """(T, 2) w1 and w2 of triplets, and the order of their relations."""
        words = torch.from_numpy(np.column_stack((triplets.governor, triplets.dependent)))
        return words, ByRelation.from_relations(triplets.relation, len(self.sentence.weight))

    def _embed(self, words: Tensor, by_relation: ByRelation) -> Tensor:
        """(T, dimension) s of triplets, Eq 1."""
        return self._scale(self.sentence(self.dropout(self.words(words)).flatten(1), by_relation).relu())

    def _scale(self, fragments: Tensor) -> Tensor:
        return functional.normalize(fragments, dim=-1) if self.hyperparameters.unit_norm else fragments

    def _fragments(self, sentences: Sentences) -> Triplets:
        """Typed dependencies, or the words or bigrams that section 4.2 compares them with."""
        if self.hyperparameters.fragments == "triplets":
            return sentences["triplets"]  # type: ignore[no-any-return]
        of_words = bag_of_words if self.hyperparameters.fragments == "words" else bigrams
        return of_words(sentences["words"])


METHOD = DeFrag


def unfreeze_layers(network: nn.Module | None, layers: Sequence[str]) -> nn.Module | None:
    """Unfreezes the given layers of a network, which are trained with the method, and freezes all others (section 3.4).

    Returns the network.

    Raises `ValueError` if a layer has no weights, or if layers are given without a network.
    """
    named = dict(network.get_submodule("layers").named_parameters()) if network is not None else {}
    trained = {layer: [name for name in named if name.startswith(f"{layer}.")] for layer in layers}
    for layer, names in trained.items():
        if not names:
            known = ", ".join(dict.fromkeys(name.rpartition(".")[0] for name in named)) or "none without the view crops"
            raise ValueError(f"trained_layers: no layer {layer!r} with weights; known: {known}")
    for name, weights in named.items():
        weights.requires_grad_(any(name in names for names in trained.values()))
    return network


def fragment_alignment(scores: Tensor, labels: Tensor, terms: Terms) -> Tensor:
    """The objective of Eq 4: the sum over i and j of max(0, 1 - y_ij v_i.s_j).

    `scores` (m, n) are the v_i.s_j; `labels` (m, n) is true where y_ij = +1 and false where it is -1. With `terms` mean
    it is the mean over the terms with y = +1 plus the mean over those with y = -1.
    """
    hinges = torch.where(labels, 1 - scores, 1 + scores).relu()
    if terms == "sum":
        return hinges.sum()
    matched = labels.sum()
    others = labels.numel() - matched
    return (hinges * torch.where(labels, 1 / matched.clamp(min=1), 1 / others.clamp(min=1))).sum()


def multiple_instance_labels(scores: Tensor, bags: Tensor) -> Tensor:
    """(m, n) bool: the y of Eq 5, by the heuristic of mi-SVM.

    `scores` (m, n) are the current v_i.s_j and `bags` (m, n) bool says which image fragments i are in the positive bag
    p_j. In its bag y_ij is the sign of the score, elsewhere -1; where all scores of a bag are at most 0, the highest
    is positive.
    """
    with torch.no_grad():
        highest = scores.masked_fill(~bags, -torch.inf).amax(dim=0)
        return bags & ((scores > 0) | (scores >= highest))


def _normaliser(in_image: Tensor, in_sentence: Tensor, parameters: Parameters) -> Tensor:
    """|g_k| (|g_l| + n) of Eq 6, (I, S), or |g_l| + n of Eq 6', (1, S); 1 for |g_l| + n = 0."""
    fragments = in_sentence.sum(dim=1) + parameters.smoothing
    of_sentences = torch.where(fragments > 0, fragments, 1).unsqueeze(0)
    return of_sentences if parameters.score == "best_region" else in_image.sum(dim=1).unsqueeze(1) * of_sentences

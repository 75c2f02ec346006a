"""HM-LSTM (Niu et al., ICCV 2017): sentences and their noun phrases, images and their regions, in one space.

A node j of a sentence's tree has children k that are noun phrases, marked by a hat, and other children l, marked by a
bar; words x_j enter at leaves:

    v = W_m [CNN(I_b)] + b_m                                                                     (1)
    h_hat = sum_k h_k,  h_bar = sum_l h_l                                                        (2)
    f_jk = sigmoid(W^(f) x_j + U_hat^(f) h_k + b^(f))                                            (3)
    f_jl = sigmoid(W^(f) x_j + U_bar^(f) h_l + b^(f))                                            (4)
    i_j = sigmoid(W^(i) x_j + U_hat^(i) h_hat + U_bar^(i) h_bar + b^(i))                         (5)
    o_j = sigmoid(W^(o) x_j + U_hat^(o) h_hat + U_bar^(o) h_bar + b^(o))                         (6)
    u_j = tanh(W^(u) x_j + U_hat^(u) h_hat + U_bar^(u) h_bar + b^(u))
    c_j = i_j * u_j + sum_k f_jk * c_k + sum_l f_jl * c_l                                        (7)
    h_j = o_j * tanh(c_j)                                                                        (8)
    L_k = sum_l max(0, m - s(v_k, h_k) + s(v_k, h_l)) + max(0, m - s(v_k, h_k) + s(v_l, h_k))    (9)
    L = sum_d sum_k w_dk L_dk                                                                    (10)

Pair 0 of a sentence d is the sentence with the whole image, with w_d0 = 1 (chosen); the other pairs are its phrases
with the regions assigned to them. densevse/kernels/hlstm.py computes Eq 2 to 8; `h_lstm` of
tests/kernels/definitions.py computes them literally.

Choices where the paper is silent: whole sentences and phrases share W_t and its batch normalisation, and whole images
and regions share W_m and its own, as Eq 1 gives W_m no index and all vectors lie in one space. Batch normalisation
takes its statistics from whole sentences and images only. Phrases and regions have another distribution and are several
for each sentence; with their statistics mixed in, retrieval was worse even with every correspondence right. Eq 10 is
divided by the number of sentences, so that the margin and gradient clipping do not depend on the batch size.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from densevse.kernels.bidirectional import Bidirectional, Turned, plan_backward
from densevse.kernels.hlstm import HLSTM, Subtrees, find_same_nodes, subtrees
from densevse.kernels.recurrent import Prefixes, prefixes
from densevse.methods.interface import (
    WHOLE_IMAGE,
    Batch,
    Correspondences,
    DualEncoder,
    Embeddings,
    Encoding,
    Images,
    Moment,
    Phrases,
    Sentences,
    Shapes,
    module_device,
)
from densevse.methods.moving import to_device
from densevse.methods.parameters.hm_lstm import Negatives, Parameters
from densevse.methods.parts import Branch, hinge, hinges, word_vectors
from densevse.methods.structures import Trees


class ImagesWithRegions(NamedTuple):
    """The images of a training batch with correspondences."""

    vectors: Tensor  # (I, dimension) v of whole images
    regions: Tensor  # (phrases, dimension) v of the regions that the phrases are assigned to


class SentencesWithPhrases(NamedTuple):
    """The sentences of a training batch with correspondences."""

    vectors: Tensor  # (S, dimension) h of whole sentences
    phrases: Tensor  # (phrases, dimension) h of phrases
    wording: Tensor  # (phrases,) a number; phrases with the same words have the same one
    head: Tensor  # (phrases,) a number; phrases with the same head have the same one


class LeafWords(NamedTuple):
    """The words of a batch of sentences as both directions of a BiLSTM read them."""

    numbers: Tensor  # (S, longest) padded with 0
    tree: Prefixes
    turned: Turned


class PlannedTrees(NamedTuple):
    """A batch of trees as it is computed."""

    distinct: Subtrees
    root: Tensor  # (S,) the node that is the whole sentence
    head: Tensor  # (nodes,) the word of each node's head
    wording: Tensor  # (nodes,) a number; nodes with the same words have the same one
    words: LeafWords | None = None  # if leaves read their sentence


class HMLSTM(DualEncoder):
    """Hierarchical Multimodal LSTM. Encodings are v of whole images and h of sentences; their score is v . h.

    In training, the encodings of a batch with correspondences are `ImagesWithRegions` and `SentencesWithPhrases`.
    """

    regions_read: ClassVar[Literal["all", "assigned"]] = "assigned"
    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if the view is not regions, or pre-trained word vectors are wanted but none are given."""
        super().__init__(parameters, shapes)
        if set(shapes.features) != {"regions"}:
            raise ValueError(f"hm_lstm reads the view regions alone, not {sorted(shapes.features)}")
        self.vectors = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        size = self.vectors.embedding_dim
        if parameters.leaves == "bilstm" and size % 2:
            raise ValueError(f"word vectors have the length {size}, which is odd: leaves of a BiLSTM need an even one")
        self.reader = Bidirectional("lstm", size, size // 2) if parameters.leaves == "bilstm" else None
        self.encoder = HLSTM(
            inputs=size,
            hidden=parameters.hidden,
            typed=parameters.typed,
            spread=float(self.vectors.weight.detach().std()),
        )
        self.text = Branch(parameters.hidden, parameters.dimension)  # W_t
        self.visual = Branch(shapes.features["regions"], parameters.dimension)  # W_m
        self.dropout = nn.Dropout(parameters.dropout)

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) v of whole images."""
        return Embeddings(self.embed_regions(images.views["regions"][:, WHOLE_IMAGE]))

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) h of whole sentences."""
        planned: PlannedTrees = self.device_plan(sentences)
        return Embeddings(self._embed_nodes(planned, planned.root))

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The v and h of whole images and sentences, and of phrases and regions if correspondences are known."""
        planned, regions = self.device_plan(batch.sentences), batch.images.views["regions"]
        nodes, features = planned.root, regions[:, WHOLE_IMAGE]
        phrases, count = self._phrases(batch), len(planned.root)
        if phrases is not None:
            nodes = torch.cat((nodes, phrases.node))
            features = torch.cat((features, regions[phrases.sentence, phrases.region]))
        h = self._embed_nodes(planned, nodes, count)
        v = self.visual(self.dropout(features), count)
        if phrases is None:
            return Embeddings(v), Embeddings(h)
        of_words, of_head = planned.wording[phrases.node], planned.head[phrases.node]
        return ImagesWithRegions(v[:count], v[count:]), SentencesWithPhrases(h[:count], h[count:], of_words, of_head)

    def loss(
        self,
        images: Embeddings | ImagesWithRegions,
        sentences: Embeddings | SentencesWithPhrases,
        batch: Batch,
        moment: Moment,
    ) -> Tensor:
        """Eq 10 over the batch's sentences, and over its phrases if the encodings hold some; a scalar."""
        parameters: Parameters = moment.parameters
        count = len(sentences.vectors)
        scores = images.vectors @ sentences.vectors.T
        losses_of_roots = contrastive_loss(scores, ~batch.positives, parameters.margin, parameters.negatives)
        total = parameters.root_weight * losses_of_roots.sum()
        if parameters.phrase_weight != "none" and isinstance(sentences, SentencesWithPhrases):
            assert isinstance(images, ImagesWithRegions)
            assert batch.correspondences is not None
            losses = _losses_of_phrases(images, sentences, batch, parameters)
            total = total + (_weights(batch.correspondences, count, parameters) * losses).sum()
        return total / count

    def embed_regions(self, regions: Tensor) -> Tensor:
        """(n, D) region features to (n, dimension) v, Eq 1."""
        return self.visual(regions)  # type: ignore[no-any-return]

    def embed_nodes(self, trees: Trees, nodes: Tensor) -> Tensor:
        """(n, dimension) representations h of the given nodes of a batch of trees: sentences (roots) or phrases."""
        return self._embed_nodes(to_device(self._plan(trees), module_device(self)), nodes)

    def plan(self, sentences: Sentences) -> PlannedTrees:
        """The distinct subtrees of a batch, and what phrases are compared by."""
        return self._plan(sentences["trees"])

    def embed_phrases(self, sentences: Sentences) -> Phrases:
        """The h of noun phrases; a sentence that is itself a noun phrase is left out."""
        trees: Trees = sentences["trees"]
        nodes = np.flatnonzero(trees.noun_phrase & (trees.parent >= 0))
        sentence = np.searchsorted(trees.root, nodes)  # a root comes last of its sentence's nodes
        node = torch.from_numpy(nodes)
        return Phrases(torch.from_numpy(sentence), node, self._embed_nodes(self.device_plan(sentences), node))

    def assign(self, regions: Tensor, present: Tensor, phrases: Tensor) -> tuple[Tensor, Tensor]:
        """The best region of each phrase, and the confidence s_ij of that correspondence (section 3.3).

        Takes (P, R, dimension) vectors of the regions of each phrase's image, the whole image first, of which `present`
        (P, R) exist, and the phrases' vectors (P, dimension). Returns (P,) regions and (P,) confidences.
        """
        scores = torch.einsum("prd,pd->pr", regions, phrases)
        scores = scores.masked_fill(~self.candidates(present), -torch.inf)
        confidence, region = scores.max(dim=1)
        if self.hyperparameters.confidence == "lead":
            others = scores.scatter(1, region.unsqueeze(1), -torch.inf).amax(dim=1)
            confidence = torch.where(others.isfinite(), confidence - others, confidence)  # of one region, its score
        return region, confidence

    def candidates(self, present: Tensor) -> Tensor:
        """(n, R) bool: the `present` regions that can be assigned to a phrase; without detections, the whole image."""
        if self.hyperparameters.candidates == "all":
            return present
        detections = present.clone()
        detections[:, WHOLE_IMAGE] = present.sum(dim=1) == 1
        return detections

    def _phrases(self, batch: Batch) -> Correspondences | None:
        """The batch's correspondences; None if there are none or their weight is 0."""
        found = batch.correspondences
        if found is None or len(found.node) == 0 or self.hyperparameters.phrase_weight == "none":
            return None
        return found

    def _embed_nodes(self, planned: PlannedTrees, nodes: Tensor, sentences: int | None = None) -> Tensor:
        """The h of nodes of all trees.

        The first `sentences` nodes are whole sentences; None if the difference does not matter.
        """
        states = self.encoder(self._leaf_vectors(planned.words), planned.distinct)
        node = planned.distinct.node[nodes.to(states.device, non_blocking=True)]
        return self.text(states.index_select(0, node), sentences)  # type: ignore[no-any-return]

    def _plan(self, trees: Trees) -> PlannedTrees:
        """Plans a batch of trees.

        With a BiLSTM over the sentence, no two leaves are the same: each stands for its place in the sentence.
        """
        root, head = torch.from_numpy(trees.root), torch.from_numpy(trees.heads())
        nodes = trees.parent, trees.noun_phrase if self.hyperparameters.typed else None
        if self.reader is None:
            distinct = subtrees(trees.word, *nodes, trees.alike if self.hyperparameters.typed else None)
            return PlannedTrees(distinct, root, head, distinct.node)
        leaves = trees.leaves()
        table, device = np.where(leaves >= 0, trees.word[leaves], 0), module_device(self)
        words = LeafWords(torch.from_numpy(table), prefixes(table, device), plan_backward(table, device))
        place = np.full(len(trees.word), -1)
        place[leaves[leaves >= 0]] = np.flatnonzero(leaves >= 0)
        of_words = torch.from_numpy(find_same_nodes(trees.word, *nodes).number)
        return PlannedTrees(subtrees(place, *nodes), root, head, of_words, words)

    def _leaf_vectors(self, words: LeafWords | None) -> Callable[[Tensor], Tensor]:
        """A function that gives the x_j of Eq 5 to 7 for the words at leaves.

        With a BiLSTM over the `words` of sentences, it takes places in these, and x_j is the word's vector plus the
        BiLSTM's state there.
        """
        if words is None or self.reader is None:
            return lambda leaves: self.dropout(self.vectors(leaves))
        states = self.reader(self.dropout(self.vectors(words.tree.distinct)), words.tree, words.turned)
        x = (self.dropout(self.vectors(words.numbers)) + states).flatten(0, 1)
        return lambda places: embedding(places, x)


def _weights(phrases: Correspondences, sentences: int, parameters: Parameters) -> Tensor:
    """The w_dk of Eq 10: the correspondence's confidence, or 0 where it is negative (chosen).

    With `phrases: mean` it is divided by the number of phrases of its sentence, one of `sentences`.
    """
    one = torch.ones_like(phrases.weight)
    weights = one if parameters.phrase_weight == "uniform" else phrases.weight.clamp(min=0)
    if parameters.phrases == "mean":
        weights = weights / weights.new_zeros(sentences).index_add_(0, phrases.sentence, one)[phrases.sentence]
    return weights


def _losses_of_phrases(
    images: ImagesWithRegions, sentences: SentencesWithPhrases, batch: Batch, parameters: Parameters
) -> Tensor:
    """(phrases,) Eq 9 for each phrase and its region."""
    v, h, phrases = images.regions, sentences.phrases, batch.correspondences
    over = parameters.phrase_negatives or parameters.negatives
    assert phrases is not None
    if parameters.contrast == "whole":
        matched, negatives = (v * h).sum(dim=1, keepdim=True), ~batch.positives[phrases.sentence]
        of_region, of_phrase = (
            hinge(scores, matched, ~negatives, parameters.margin)
            for scores in (v @ sentences.vectors.T, h @ images.vectors.T)
        )
        return _reduce_hinges(of_region, of_phrase, negatives, over)
    if parameters.contrast == "sentence":  # a region assigned to two phrases contrasts with neither
        negatives = phrases.sentence[:, None] == phrases.sentence
        negatives &= phrases.region[:, None] != phrases.region
    else:
        negatives = ~batch.positives[phrases.sentence][:, phrases.sentence]
    if parameters.identical_phrases != "negatives":
        alike = sentences.wording if parameters.identical_phrases == "ignored" else sentences.head
        negatives &= alike[:, None] != alike
    return contrastive_loss(v @ h.T, negatives, parameters.margin, over)


def contrastive_loss(scores: Tensor, negatives: Tensor, margin: float, over: Negatives) -> Tensor:
    """(K,) Eq 9 for each pair of a batch.

    `scores` is (K, K) s(v_k, h_l), pairs on the diagonal; `negatives` (K, K) is true where v_k and h_l contrast.
    """
    phrases, regions = hinges(scores, ~negatives, margin)  # contrastive h_l of v_k in row k, v_l of h_k in column k
    return _reduce_hinges(phrases, regions.T, negatives, over)


def _reduce_hinges(of_region: Tensor, of_phrase: Tensor, negatives: Tensor, over: Negatives) -> Tensor:
    """(K,) losses: the hinges (K, contrastive items) of each region v_k and its phrase h_k, combined as `over` says."""
    if over == "hardest":
        return of_region.amax(dim=1) + of_phrase.amax(dim=1)
    total = of_region.sum(dim=1) + of_phrase.sum(dim=1)
    return total if over == "sum" else total / negatives.sum(dim=1).clamp(min=1)


METHOD = HMLSTM

"""HM-LSTM (Niu et al., ICCV 2017): sentences and their noun phrases, images and their regions, in one space.

Where the paper is silent, as chosen here: W_t, W_m and their batch normalisation are the same for whole sentences and
phrases, whole images and regions (Eq 1 gives W_m no index, and all of them are to be neighbours in one space). The
statistics are those of whole sentences and images: phrases and regions are of another distribution, several for each
sentence, and where theirs were mixed in, retrieval suffered even with every correspondence right. Eq 10 is divided by
the number of sentences, so that neither the margin nor gradient clipping depends on the batch size.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from densevse.kernels.bidirectional import Bidirectional
from densevse.kernels.hlstm import HLSTM, plan, wording
from densevse.kernels.recurrent import prefixes
from densevse.methods.branch import Branch
from densevse.methods.interface import (
    Batch,
    Correspondences,
    DualEncoder,
    Encoding,
    Images,
    Moment,
    Phrases,
    Sentences,
    Shapes,
)
from densevse.methods.losses import hinge, hinges
from densevse.methods.parameters.hm_lstm import Negatives, Parameters
from densevse.methods.structures import Trees, words_of
from densevse.methods.words import word_vectors

WHOLE_IMAGE = 0  # the first region of every image


class HMLSTM(DualEncoder):
    """Hierarchical Multimodal LSTM. Encodings are v of whole images (I, dimension) and h of sentences (S, dimension).

    Their score s(v, h) is v . h. In a training batch with correspondences, the images' encoding holds v of the phrases'
    regions besides, and the sentences' h of the phrases and two numbers for each phrase, of which one is the same for
    phrases of the same words and one for phrases of the same head: all (phrases, ...).
    """

    regions_read: ClassVar[Literal["all", "assigned"]] = "assigned"
    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if pre-trained word vectors are wanted but none are given, or regions are not read."""
        super().__init__(parameters, shapes)
        if set(shapes.features) != {"regions"}:
            raise ValueError(f"hm_lstm reads the view regions alone, not {sorted(shapes.features)}")
        self.vectors = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        size = self.vectors.embedding_dim
        self.reader = Bidirectional(size, size // 2) if parameters.leaves == "bilstm" else None
        if self.reader is not None and size % 2:
            raise ValueError(f"a BiLSTM's leaves want word vectors of an even length, not {size}")
        self.encoder = HLSTM(
            inputs=size,
            hidden=parameters.hidden,
            typed=parameters.typed,
            spread=float(self.vectors.weight.detach().std()),
        )
        self.text = Branch(parameters.hidden, parameters.dimension)  # W_t
        self.visual = Branch(shapes.features["regions"], parameters.dimension)  # W_m
        self.dropout = nn.Dropout(parameters.dropout)

    def encode_images(self, images: Images) -> Encoding:
        """The representations v of whole images."""
        return (self.embed_regions(images.views["regions"][:, WHOLE_IMAGE]),)

    def encode_sentences(self, sentences: Sentences) -> Encoding:
        """The representations h of whole sentences."""
        trees: Trees = sentences["trees"]
        return (self.embed_nodes(trees, torch.from_numpy(trees.root)),)

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """V and h of whole images and sentences, and of phrases and their regions where correspondences are known."""
        trees, regions = batch.sentences["trees"], batch.images.views["regions"]
        nodes, features = torch.from_numpy(trees.root).to(regions.device), regions[:, WHOLE_IMAGE]
        phrases, count = self._phrases(batch), len(trees.root)
        if phrases is not None:
            nodes = torch.cat((nodes, phrases.node))
            features = torch.cat((features, regions[phrases.sentence, phrases.region]))
        h, node = self._embed_nodes(trees, nodes, count)
        v = self.visual(self.dropout(features), count)
        if phrases is None:
            return (v,), (h,)
        if self.reader is not None:
            node = torch.from_numpy(wording(trees, self.hyperparameters.typed)).to(node.device)
        same_words, same_head = node[phrases.node], torch.from_numpy(trees.heads()).to(node.device)[phrases.node]
        return (v[:count], v[count:]), (h[:count], h[count:], same_words, same_head)

    def loss(self, images: Encoding, sentences: Encoding, batch: Batch, moment: Moment) -> Tensor:
        """Eq 10 over the batch: its sentences, and its phrases where the encodings hold some."""
        parameters: Parameters = moment.parameters
        count = len(sentences[0])
        total = _loss_of_pairs(images[0], sentences[0], ~batch.positives, parameters).sum()
        if len(images) > 1:
            if batch.correspondences is None:
                raise ValueError("the encodings hold phrases, but the batch says nothing of their sentences")
            losses = _losses_of_phrases(images, sentences, batch, parameters)
            total = total + (_weights(batch.correspondences, count, parameters) * losses).sum()
        return total / count

    def embed_regions(self, regions: Tensor) -> Tensor:
        """(n, D) region features to (n, dimension) v, Eq 1."""
        return self.visual(regions)  # type: ignore[no-any-return]

    def embed_nodes(self, trees: Trees, nodes: Tensor) -> Tensor:
        """(n, dimension) representations h of the given nodes of a batch of trees: sentences (roots) or phrases."""
        return self._embed_nodes(trees, nodes)[0]

    def embed_phrases(self, sentences: Sentences) -> Phrases:
        """The representations h of noun phrases; a sentence that is one itself is not among them."""
        trees: Trees = sentences["trees"]
        nodes = np.flatnonzero(trees.noun_phrase & (trees.parent >= 0))
        sentence = np.searchsorted(trees.root, nodes)  # a root comes last of its sentence's nodes
        node = torch.from_numpy(nodes)
        return Phrases(torch.from_numpy(sentence), node, self.embed_nodes(trees, node))

    def assign(self, regions: Tensor, present: Tensor, phrases: Tensor) -> tuple[Tensor, Tensor]:
        """The best matching region of each phrase, and the confidence of that correspondence, s_ij (section 3.3).

        (P, R, dimension) representations of the regions of each phrase's image, the whole image first, of which
        `present` (P, R) exist, and (P, dimension) of the phrases, to (P,) and (P,).
        """
        scores = torch.einsum("prd,pd->pr", regions, phrases)
        scores = scores.masked_fill(~self.candidates(present), -torch.inf)
        confidence, region = scores.max(dim=1)
        if self.hyperparameters.confidence == "lead":
            others = scores.scatter(1, region.unsqueeze(1), -torch.inf).amax(dim=1)
            confidence = torch.where(others.isfinite(), confidence - others, confidence)  # of one region, its score
        return region, confidence

    def candidates(self, present: Tensor) -> Tensor:
        """Which of the regions present, (n, R), a phrase may be assigned: without detections, the whole image."""
        if self.hyperparameters.candidates == "all":
            return present
        detections = present.clone()
        detections[:, WHOLE_IMAGE] = present.sum(dim=1) == 1
        return detections

    def _phrases(self, batch: Batch) -> Correspondences | None:
        """The batch's correspondences, if there are any and they have weight."""
        found = batch.correspondences
        if found is None or len(found.node) == 0 or self.hyperparameters.phrase_weight == "none":
            return None
        return found

    def _embed_nodes(self, trees: Trees, nodes: Tensor, sentences: int | None = None) -> tuple[Tensor, Tensor]:
        """Representations of nodes, and each node's number among the distinct ones of all trees.

        The first `sentences` of the nodes are whole sentences; None if that makes no difference.
        """
        device = self.encoder.w.device
        trees, vectors = self._leaves(trees)
        layout = plan(trees, self.hyperparameters.typed, device)
        states = self.encoder(vectors, layout)
        return self.text(states.index_select(0, layout.node[nodes.to(device)]), sentences), layout.node

    def _leaves(self, trees: Trees) -> tuple[Trees, Callable[[Tensor], Tensor]]:
        """Trees, and what gives x_j of Eq 5 to 7 for the words at their leaves.

        Where leaves read their sentence, each is a word of its own: no two have the same x_j, the word's vector with
        the BiLSTM's state there added to it.
        """
        if self.reader is None:
            return trees, lambda words: self.dropout(self.vectors(words))
        leaves = trees.leaves()
        words = words_of(np.where(leaves >= 0, trees.word[leaves], 0), self.encoder.w.device)
        distinct = prefixes(words)
        states = self.reader(self.dropout(self.vectors(distinct.distinct)), words, distinct)
        x = (self.dropout(self.vectors(words.index)) + states).flatten(0, 1)
        place = np.full(len(trees.word), -1)
        place[leaves[leaves >= 0]] = np.flatnonzero(leaves >= 0)
        return replace(trees, word=place), lambda places: embedding(places, x)


def _weights(phrases: Correspondences, sentences: int, parameters: Parameters) -> Tensor:
    """w_dk of Eq 10: the correspondence's confidence, which counts nothing where it is negative (chosen).

    With `phrases: mean` it is divided by the number of phrases of the sentence, one of `sentences`.
    """
    one = torch.ones_like(phrases.weight)
    weights = one if parameters.phrase_weight == "uniform" else phrases.weight.clamp(min=0)
    if parameters.phrases == "mean":
        weights = weights / weights.new_zeros(sentences).index_add_(0, phrases.sentence, one)[phrases.sentence]
    return weights


def _losses_of_phrases(images: Encoding, sentences: Encoding, batch: Batch, parameters: Parameters) -> Tensor:
    """Eq 9 for each phrase and its region: (phrases,)."""
    (whole_v, v), (whole_h, h, same_words, same_head), phrases = images, sentences, batch.correspondences
    assert phrases is not None
    if parameters.contrast == "whole":
        matched, negatives = (v * h).sum(dim=1, keepdim=True), ~batch.positives[phrases.sentence]
        of_region, of_phrase = (
            hinge(scores, matched, ~negatives, parameters.margin) for scores in (v @ whole_h.T, h @ whole_v.T)
        )
        return _over(of_region, of_phrase, negatives, parameters.negatives)
    if parameters.contrast == "sentence":  # a region that two phrases are assigned contrasts with neither
        negatives = phrases.sentence[:, None] == phrases.sentence
        negatives &= phrases.region[:, None] != phrases.region
    else:
        negatives = ~batch.positives[phrases.sentence][:, phrases.sentence]
    if parameters.identical_phrases != "negatives":
        alike = same_words if parameters.identical_phrases == "ignored" else same_head
        negatives &= alike[:, None] != alike
    return _loss_of_pairs(v, h, negatives, parameters)


def _loss_of_pairs(v: Tensor, h: Tensor, negatives: Tensor, parameters: Parameters) -> Tensor:
    return contrastive_loss(v @ h.T, negatives, parameters.margin, parameters.negatives)


def contrastive_loss(scores: Tensor, negatives: Tensor, margin: float, over: Negatives) -> Tensor:
    """Eq 9 for each pair of a batch: (K,).

    `scores` is (K, K) s(v_k, h_l), pairs on the diagonal; `negatives` (K, K) says whether v_k and h_l contrast.
    """
    phrases, regions = hinges(scores, ~negatives, margin)  # contrastive h_l of v_k in row k, v_l of h_k in column k
    return _over(phrases, regions.T, negatives, over)


def _over(of_region: Tensor, of_phrase: Tensor, negatives: Tensor, over: Negatives) -> Tensor:
    """(K,) of the hinges (K, contrastive items) of a region v_k and of its phrase h_k."""
    if over == "hardest":
        return of_region.amax(dim=1) + of_phrase.amax(dim=1)
    total = of_region.sum(dim=1) + of_phrase.sum(dim=1)
    return total if over == "sum" else total / negatives.sum(dim=1).clamp(min=1)


METHOD = HMLSTM

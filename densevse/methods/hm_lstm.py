"""HM-LSTM (Niu et al., ICCV 2017): sentences and their noun phrases, images and their regions, in one space.

Where the paper is silent, as chosen here: W_t, W_m and their batch normalisation are the same for whole sentences and
phrases, whole images and regions (Eq 1 gives W_m no index, and all of them are to be neighbours in one space). The
statistics are those of whole sentences and images: phrases and regions are of another distribution, several for each
sentence, and where theirs were mixed in, retrieval suffered even with every correspondence right. Eq 10 is divided by
the number of sentences, so that neither the margin nor gradient clipping depends on the batch size.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args, get_type_hints

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, normalize

from densevse.methods.hlstm import HLSTM, plan
from densevse.methods.interface import Batch, Correspondences, Images, Method, Sentences, Shapes, Trees
from densevse.methods.losses import hinges
from densevse.methods.words import WordVectors, word_vectors

WHOLE_IMAGE = 0  # the first region of every image


@dataclass(frozen=True, kw_only=True)
class HMLSTMParameters:
    """What config/methods/hm_lstm.yaml may set; defaults are the paper's or, where it is silent, chosen."""

    dimension: int = 512  # of the embedding space (section 5.1.1)
    hidden: int = 512  # of the H-LSTM
    typed: bool = True  # noun phrase children have weights of their own; if not, a plain Tree-LSTM
    word_vectors: WordVectors = "fixed"  # pre-trained (section 3.2.1), or from nothing
    word_dimension: int = 300  # of word vectors that are learned from nothing
    margin: float = 0.1  # m of Eq 9
    negatives: Literal["sum", "mean", "hardest"] = "sum"  # what Eq 9 takes over the contrastive items
    phrase_weight: Literal["confidence", "uniform", "none"] = "confidence"  # w_dk of Eq 10 for k > 0
    phrases: Literal["sum", "mean"] = "sum"  # what Eq 10 takes over the phrases of a sentence
    identical_phrases: Literal["ignored", "negatives"] = "ignored"  # "a man" of another image against "a man"
    candidates: Literal["detections", "all"] = "detections"  # regions that a phrase may be assigned (section 3.3)

    def __post_init__(self) -> None:
        """Raises `ValueError` naming a value that does not fit."""
        for name, hint in get_type_hints(type(self)).items():
            if get_args(hint) and getattr(self, name) not in get_args(hint):
                raise ValueError(f"parameters.{name}: {getattr(self, name)!r} is not one of {get_args(hint)}")


class Branch(nn.Module):
    """One branch of the two (section 3.2.2): fully connected, batch normalisation, length 1."""

    def __init__(self, inputs: int, dimension: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, dimension)
        self.norm = nn.BatchNorm1d(dimension)

    def forward(self, x: Tensor, wholes: int | None = None) -> Tensor:
        """(n, inputs) to (n, dimension) of length 1.

        The statistics of a training batch are those of its first `wholes` rows (by default of all), and the rows after
        them are moved and scaled like those. One row has no statistics: the running ones serve.
        """
        x, norm = self.linear(x), self.norm
        wholes = len(x) if wholes is None else wholes
        if not self.training or wholes == 1:
            x = batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps)
        else:
            variance, mean = torch.var_mean(x[:wholes], dim=0, correction=0)
            scale = norm.weight * torch.rsqrt(variance + norm.eps)
            x = torch.cat((norm(x[:wholes]), torch.addcmul(norm.bias, x[wholes:] - mean, scale)))
        return normalize(x, dim=1)


class HMLSTM(Method):
    """Hierarchical Multimodal LSTM."""

    Parameters: ClassVar[type] = HMLSTMParameters
    parameters_of_paper: HMLSTMParameters

    def __init__(self, parameters: HMLSTMParameters, shapes: Shapes) -> None:
        """Raises `ValueError` if pre-trained word vectors are wanted but none are given."""
        super().__init__(parameters, shapes)
        self.vectors = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.encoder = HLSTM(
            inputs=self.vectors.embedding_dim,
            hidden=parameters.hidden,
            typed=parameters.typed,
            spread=float(self.vectors.weight.detach().std()),
        )
        self.text = Branch(parameters.hidden, parameters.dimension)  # W_t
        self.visual = Branch(shapes.features["regions"], parameters.dimension)  # W_m

    def embed_regions(self, features: Tensor) -> Tensor:
        """(n, D) region features to (n, dimension) v, Eq 1."""
        return self.visual(features)  # type: ignore[no-any-return]

    def embed_nodes(self, trees: Trees, nodes: Tensor) -> Tensor:
        """(n, dimension) representations h of the given nodes of a batch of trees: sentences (roots) or phrases."""
        return self._embed_nodes(trees, nodes)[0]

    def encode_images(self, images: Images) -> tuple[Tensor, ...]:
        """The representations v of whole images."""
        return (self.embed_regions(images.views["regions"][:, WHOLE_IMAGE]),)

    def encode_sentences(self, sentences: Sentences) -> tuple[Tensor, ...]:
        """The representations h of whole sentences."""
        trees = _trees(sentences)
        return (self.embed_nodes(trees, torch.from_numpy(trees.root)),)

    def score(self, images: tuple[Tensor, ...], sentences: tuple[Tensor, ...]) -> Tensor:
        """s(v, h) = v . h."""
        return images[0] @ sentences[0].T

    def loss(self, batch: Batch) -> Tensor:
        """Eq 10 over the batch: its roots, and its phrases where their correspondences are known."""
        trees, regions = _trees(batch.sentences), batch.images.views["regions"]
        roots, images = torch.from_numpy(trees.root).to(regions.device), regions[:, WHOLE_IMAGE]
        phrases = self._phrases(batch)
        if phrases is not None:
            roots = torch.cat((roots, phrases.node))
            images = torch.cat((images, regions[phrases.sentence, phrases.region]))
        sentences = len(trees.root)
        h, same = self._embed_nodes(trees, roots, sentences)
        v = self.visual(images, sentences)
        total = self._loss_of_pairs(v[:sentences], h[:sentences], ~batch.positives).sum()
        if phrases is not None:
            negatives = ~batch.positives[phrases.sentence][:, phrases.sentence]
            if self.parameters_of_paper.identical_phrases == "ignored":
                negatives &= same[sentences:, None] != same[sentences:]
            losses = self._loss_of_pairs(v[sentences:], h[sentences:], negatives)
            total = total + (self._weights(phrases, sentences) * losses).sum()
        return total / sentences

    def assign(self, regions: Tensor, present: Tensor, phrases: Tensor) -> tuple[Tensor, Tensor]:
        """The best matching region of each phrase, and the confidence of that correspondence, s_ij (section 3.3).

        (P, R, dimension) representations of the regions of each phrase's image, the whole image first, of which
        `present` (P, R) exist, and (P, dimension) of the phrases, to (P,) and (P,).
        """
        scores = torch.einsum("prd,pd->pr", regions, phrases)
        confidence, region = scores.masked_fill(~self.candidates(present), -torch.inf).max(dim=1)
        return region, confidence

    def candidates(self, present: Tensor) -> Tensor:
        """Which of the regions present, (n, R), a phrase may be assigned: without detections, the whole image."""
        if self.parameters_of_paper.candidates == "all":
            return present
        detections = present.clone()
        detections[:, WHOLE_IMAGE] = present.sum(dim=1) == 1
        return detections

    def _phrases(self, batch: Batch) -> Correspondences | None:
        """The batch's correspondences, if there are any and they have weight."""
        found = batch.sentences.correspondences
        if found is None or len(found.node) == 0 or self.parameters_of_paper.phrase_weight == "none":
            return None
        return found

    def _weights(self, phrases: Correspondences, sentences: int) -> Tensor:
        """w_dk of Eq 10: the correspondence's confidence, which counts nothing where it is negative (chosen).

        With `phrases: mean` it is divided by the number of phrases of the sentence, one of `sentences`.
        """
        uniform = self.parameters_of_paper.phrase_weight == "uniform"
        weights = torch.ones_like(phrases.weight) if uniform else phrases.weight.clamp(min=0)
        if self.parameters_of_paper.phrases == "mean":
            weights = weights / torch.bincount(phrases.sentence, minlength=sentences)[phrases.sentence]
        return weights

    def _loss_of_pairs(self, v: Tensor, h: Tensor, negatives: Tensor) -> Tensor:
        return contrastive_loss(v @ h.T, negatives, self.parameters_of_paper.margin, self.parameters_of_paper.negatives)

    def _embed_nodes(self, trees: Trees, nodes: Tensor, sentences: int | None = None) -> tuple[Tensor, Tensor]:
        """Representations of nodes, and a number for each that is the same for nodes of the same words.

        The first `sentences` of the nodes are whole sentences; None if that makes no difference.
        """
        device = self.encoder.w.device
        layout = plan(trees, self.parameters_of_paper.typed, device)
        distinct = layout.node[nodes.to(device)]
        return self.text(self.encoder(self.vectors, layout).index_select(0, distinct), sentences), distinct


def contrastive_loss(
    scores: Tensor, negatives: Tensor, margin: float, over: Literal["sum", "mean", "hardest"]
) -> Tensor:
    """Eq 9 for each pair of a batch: (K,).

    `scores` is (K, K) s(v_k, h_l), pairs on the diagonal; `negatives` (K, K) says whether v_k and h_l contrast.
    """
    phrases, regions = hinges(scores, ~negatives, margin)  # contrastive h_l of v_k in row k, v_l of h_k in column k
    if over == "hardest":
        return phrases.amax(dim=1) + regions.amax(dim=0)
    total = phrases.sum(dim=1) + regions.sum(dim=0)
    return total if over == "sum" else total / negatives.sum(dim=1).clamp(min=1)


def _trees(sentences: Sentences) -> Trees:
    if sentences.trees is None:
        raise ValueError("HM-LSTM reads trees: its `sentences` must include `trees`")
    return sentences.trees

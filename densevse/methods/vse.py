"""VSE (Kiros, Salakhutdinov, Zemel 2014), with VSE++ and order embeddings as parameters.

x is a linear map of an image's CNN vector and v the last hidden state of an LSTM over its sentence's words, both of
unit norm, so that s(x, v) = x . v is their cosine. Training makes matching pairs score higher than contrastive ones by
a margin alpha, in both directions; v_k and x_k are contrastive:

    sum_x sum_k max(0, alpha - s(x, v) + s(x, v_k)) + sum_v sum_k max(0, alpha - s(v, x) + s(v, x_k))

VSE++ (Faghri et al., BMVC 2018, Eq 6) keeps the hardest contrastive term only, max_k in place of each sum_k. Order
embeddings (Vendrov et al., ICLR 2016, Eq 2) replace the cosine by minus an order-violation penalty,
s(x, v) = -||max(0, v - x)||^2.

Ours, as a control of methods that read more of an image: x is a linear map of several of its vectors, one after the
other, such as that of the whole image and the mean of its regions; or it is the generalised pooling of its mapped
regions (VSE-infinity; Chen et al., CVPR 2021).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.order import order_scores
from densevse.kernels.recurrent import Prefixes, Recurrent, prefixes
from densevse.methods.interface import Batch, DualEncoder, Embeddings, Images, Moment, Sentences, Shapes, module_device
from densevse.methods.parameters.vse import Parameters
from densevse.methods.parts import (
    WHOLE_VIEWS,
    Branch,
    GeneralisedPooling,
    RankingLoss,
    mean_of_regions,
    word_vectors,
    xavier_linear,
)
from densevse.methods.structures import Words


class VSE(DualEncoder):
    """The joint embedding. Encodings are of unit norm."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` for views that the pooling does not read, or if words misfit."""
        super().__init__(parameters, shapes)
        self.views = [view for view in (*WHOLE_VIEWS, "regions") if view in shapes.features]
        pooled = parameters.pooling == "generalised"
        if set(self.views) != set(shapes.features) or (self.views == ["regions"]) != pooled:
            raise ValueError(
                f"`views` holds {sorted(shapes.features)}: vse reads one or more of {', '.join(WHOLE_VIEWS)}, and "
                "beside them the mean vector of regions; with pooling: generalised, it reads regions alone"
            )
        self.pooling = GeneralisedPooling() if pooled else None
        self.image = _image_branch(sum(shapes.features.values()), parameters)
        self.words = _word_vectors(parameters, shapes)
        self.sentence = _sentence_encoder(parameters, self.words.embedding_dim)
        normalised = parameters.branches == "normalised"
        self.text = Branch(parameters.dimension, parameters.dimension) if normalised else nn.Identity()
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = RankingLoss(parameters.negatives, parameters.temperature)

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) x, the linear map of the CNN's vector, or of several in a row, of unit norm."""
        if self.pooling:
            regions = self.image(self.dropout(images.views["regions"]))
            return Embeddings(self._normalise_vectors(self.pooling(regions, images.present)))
        vectors = [mean_of_regions(images) if view == "regions" else images.views[view] for view in self.views]
        together = torch.cat(vectors, dim=1) if len(vectors) > 1 else vectors[0]
        return Embeddings(self._normalise_vectors(self.image(self.dropout(together))))

    def plan(self, sentences: Sentences) -> Prefixes | None:
        """The order in which an LSTM or GRU reads the sentences."""
        return (
            prefixes(sentences["words"].index_on_host(), module_device(self))
            if isinstance(self.sentence, Recurrent)
            else None
        )

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) v, the sentence encoder's last state, of unit norm."""
        words: Words = sentences["words"]
        if isinstance(self.sentence, Recurrent):
            tree: Prefixes = self.device_plan(sentences)
            last = self.sentence(self.dropout(self.words(tree.distinct)), tree)
        else:
            total = self.dropout(self.words(words.index)).sum(dim=1)  # padding has the zero vector
            last = self.sentence(total / words.lengths.unsqueeze(1))
        return Embeddings(self._normalise_vectors(self.text(last)))

    def score(self, images: Embeddings, sentences: Embeddings) -> Tensor:
        """(I, S) s(x, v): cosines, or minus the order-violation penalty."""
        if self.hyperparameters.similarity == "order":
            return order_scores(images.vectors, sentences.vectors)
        return super().score(images, sentences)

    def embed_words(self, words: Tensor) -> Tensor:
        """(n, dimension) vectors of words, as sentences of one word each."""
        alone = Words(words.unsqueeze(1), torch.ones_like(words))
        return self.embed_sentences(Sentences({"words": alone}))

    def loss(self, images: Embeddings, sentences: Embeddings, batch: Batch, moment: Moment) -> Tensor:
        """The pairwise ranking loss of the poster, or another one that `negatives` names; a scalar."""
        return self.ranking(self.score(images, sentences), batch.positives, moment.parameters)  # type: ignore[no-any-return]

    def _normalise_vectors(self, vectors: Tensor) -> Tensor:
        """Vectors scaled to unit norm, with absolute values for order embeddings (Vendrov et al. 2016, section 5.1)."""
        unit = functional.normalize(vectors, dim=1)
        return unit.abs() if self.hyperparameters.similarity == "order" else unit


def _image_branch(size: int, parameters: Parameters) -> nn.Module:
    """A linear map of a CNN's vector of this size into the space."""
    if parameters.branches == "normalised":
        return Branch(size, parameters.dimension)
    return xavier_linear(size, parameters.dimension)


def _word_vectors(parameters: Parameters, shapes: Shapes) -> nn.Embedding:
    """The words' vectors; for an encoder that only adds them up, they have the dimension of the space."""
    linear = parameters.encoder == "linear"
    words = word_vectors(parameters.word_vectors, parameters.dimension if linear else parameters.word_dimension, shapes)
    if linear and words.embedding_dim != parameters.dimension:
        raise ValueError(f"a linear encoder adds word vectors: set `dimension` to their length, {words.embedding_dim}")
    return words


def _sentence_encoder(parameters: Parameters, word_dimension: int) -> nn.Module:
    """An LSTM or GRU over words, a linear map of their mean, or their mean itself."""
    if parameters.encoder == "linear":
        return nn.Identity()
    if parameters.encoder == "bag_of_words":
        return nn.Linear(word_dimension, parameters.dimension)
    return Recurrent(parameters.encoder, word_dimension, parameters.dimension)


METHOD = VSE

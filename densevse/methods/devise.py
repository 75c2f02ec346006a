"""DeViSE (Frome et al. 2013) as DeFrag's section 4.1 compares with it: a special case of DeFrag.

A sentence's only fragment is the mean of its L2-normalised word vectors. An image's only fragment is mapped linearly
into the space of words. Only the global ranking objective trains that map.

The score is the plain inner product (chosen). Eq 6 of DeFrag would truncate it at 0 and halve it.
"""

from torch import Tensor
from torch.nn.functional import normalize

from densevse.methods.global_ranking import MeanRegion
from densevse.methods.interface import Embeddings, Sentences, Shapes
from densevse.methods.parameters.devise import Parameters
from densevse.methods.parts import known_words, word_vectors


class DeViSE(MeanRegion):
    """Maps images into the space of word vectors."""

    known: Tensor

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        super().__init__(parameters, shapes, dimension=words.embedding_dim, threshold=parameters.threshold)
        self.words = words
        self.register_buffer("known", known_words(words))

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) means over the known words; zero for a sentence without any."""
        words = sentences["words"]
        known = self.known[words.index].unsqueeze(2)
        vectors = normalize(self.words(words.index), dim=2) * known
        return Embeddings(vectors.sum(dim=1) / known.sum(dim=1).clamp(min=1))


METHOD = DeViSE

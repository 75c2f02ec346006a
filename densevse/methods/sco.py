"""SCO: semantic concepts and order (Huang, Wu, Song, Wang, CVPR 2018).

An image is its global context x (a CNN's vector) and the scores p of its semantic concepts, joined by a gate; a
sentence is the last hidden state of an LSTM. Training matches the two and, so that the image's vector learns the
semantic order, has it generate the matched sentence; nothing is generated when images and sentences are ranked.

Eq 1 belongs to the concept network, which predicts p and is fixed here. As chosen here: W_l, W_g, U_l, U_g have no bias
as printed; the gate of Eq 2 is given the normalised x and the scores p as they are.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.methods.decoder import Decoder
from densevse.methods.interface import Batch, DualEncoder, Encoding, Images, Moment, Sentences, Shapes
from densevse.methods.losses import sum_of_hinges
from densevse.methods.parameters.sco import Parameters
from densevse.methods.recurrent import Recurrent, prefixes
from densevse.methods.structures import Words
from densevse.methods.words import word_vectors

CONTEXTS = ("whole", "ten_crop")


class SCO(DualEncoder):
    """Semantic concepts and order. Encodings are (I, dimension) and (S, dimension), of unit norm."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if the views are not those that `parameters.image` joins."""
        super().__init__(parameters, shapes)
        self.context = _context(parameters, shapes)
        self.image = Fusion(parameters, shapes, self.context)
        self.words = word_vectors("learned", parameters.word_dimension, shapes)
        self.sentence = Recurrent("lstm", parameters.word_dimension, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)
        self.decoder = _decoder(parameters, shapes, self.words) if parameters.generation_weight else None

    def encode_images(self, images: Images) -> Encoding:
        """The fused representation v of Eq 2, of unit norm, for the cosine of section 3.4."""
        return (functional.normalize(self._fused(images), dim=1),)

    def encode_sentences(self, sentences: Sentences) -> Encoding:
        """The last hidden state s of the sentence's LSTM (section 3.1), of unit norm."""
        tree = prefixes(self._words(sentences))
        return (functional.normalize(self.sentence(self.dropout(self.words(tree.distinct)), tree), dim=1),)

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """With the images' encodings comes v itself, from which sentences are generated."""
        fused = self._fused(batch.images)
        return (functional.normalize(fused, dim=1), fused), self.encode_sentences(batch.sentences)

    def loss(self, images: Encoding, sentences: Encoding, batch: Batch, moment: Moment) -> Tensor:
        """L = L_mat + lambda L_gen (Eq 4), each summed over the batch."""
        parameters: Parameters = moment.parameters
        matching = sum_of_hinges(self.score(images, sentences), batch.positives, parameters.margin)
        if self.decoder is None:
            return matching
        generation = self.decoder.negative_log_likelihood(images[1], self._words(batch.sentences), parameters.sampled)
        return matching + parameters.generation_weight * generation.sum()

    def _fused(self, images: Images) -> Tensor:
        context = None if self.context is None else self.dropout(images.views[self.context])
        concepts = images.views["concepts"] if "concepts" in self.shapes.features else None
        return self.image(context, concepts)  # type: ignore[no-any-return]

    def _words(self, sentences: Sentences) -> Words:
        """The words of sentences, at most as many as the paper reads (section 4.2)."""
        words: Words = sentences["words"]
        longest = self.hyperparameters.longest_sentence
        return Words(words.index[:, :longest], words.lengths.clamp(max=longest), words.on_host()[:, :longest])


class Fusion(nn.Module):
    """Eq 2: an image's representation v from its global context x, the scores p of its concepts, or both."""

    def __init__(self, parameters: Parameters, shapes: Shapes, context: str | None) -> None:
        super().__init__()
        self.how = parameters.image
        if context is not None:
            self.w_g = _matrix(shapes.features[context], parameters.dimension)
        if self.how != "context":
            self.w_l = _matrix(shapes.features["concepts"], parameters.dimension)
        if self.how == "gate" and context is not None:
            self.u_g = _matrix(shapes.features[context], parameters.dimension)
            self.u_l = _matrix(shapes.features["concepts"], parameters.dimension)

    def forward(self, context: Tensor | None, concepts: Tensor | None) -> Tensor:
        """(I, dimension) v of (I, D) context vectors and (I, K) concept scores."""
        x = None if context is None else functional.normalize(context, dim=1)  # "the normalized context vector"
        of_concepts = None if concepts is None else functional.normalize(self.w_l(concepts), dim=1)  # p-hat
        of_context = None if x is None else functional.normalize(self.w_g(x), dim=1)  # x-hat
        if of_concepts is None or of_context is None:
            return of_context if of_concepts is None else of_concepts  # type: ignore[return-value]
        if self.how == "sum":
            return of_concepts + of_context
        gate = torch.sigmoid(self.u_l(concepts) + self.u_g(x))  # t
        return gate * of_concepts + (1 - gate) * of_context


def _matrix(inputs: int, outputs: int) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.xavier_uniform_(linear.weight)
    return linear


def _context(parameters: Parameters, shapes: Shapes) -> str | None:
    """The view of the global context. Raises `ValueError` if the views given are not those that are joined."""
    given = sorted(shapes.features)
    found = [view for view in CONTEXTS if view in given]
    wanted = {"context": len(found) == 1 and len(given) == 1, "concepts": given == ["concepts"]}
    if not wanted.get(parameters.image, len(found) == 1 and len(given) == 2 and "concepts" in given):
        raise ValueError(
            f"parameters.image is {parameters.image}: expected the views {_expected(parameters.image)}, but `views` "
            f"holds {given}"
        )
    return found[0] if found else None


def _expected(image: str) -> str:
    return {"concepts": "concepts", "context": "whole or ten_crop"}.get(image, "whole or ten_crop, and concepts")


def _decoder(parameters: Parameters, shapes: Shapes, words: nn.Embedding) -> Decoder:
    """The generating LSTM; its words' vectors are those of the sentences' LSTM only in "ctx + gen (E)"."""
    if parameters.words == "own":
        words = word_vectors("learned", parameters.word_dimension, shapes)
    return Decoder(words, parameters.dimension)


METHOD = SCO

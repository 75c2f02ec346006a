"""An LSTM that writes a sentence about an image, word by word, from the image's vector (NIC, Vinyals et al. 2015).

It reads a CNN's vector of the whole image, without a joint space. As in SCO's generation (Eq 3), a linear map of the
vector is the LSTM's first state; in NIC it is the first input.
"""

from torch import Tensor, nn
from torch.nn import functional

from densevse.methods.decoder import Decoder
from densevse.methods.generators.interface import CONTENT, Generator, State
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators.lstm_captioner import Parameters
from densevse.methods.parts import word_vectors
from densevse.methods.structures import Words


class LSTMCaptioner(Generator):
    """The LSTM captioner. Its contents are the CNN's vectors of images."""

    structure = "words"
    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        super().__init__(parameters, shapes)
        self.image = nn.Linear(shapes.features[CONTENT], parameters.dimension)
        words = word_vectors("learned", parameters.word_dimension, shapes)
        self.decoder = Decoder(words, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)

    def negative_log_likelihood(self, content: Tensor, sentences: Words) -> Tensor:
        """(S,) minus the log probability of each sentence and its end, as the decoder gives it."""
        return self.decoder.negative_log_likelihood(self.initial_states(content), sentences)

    def initial_states(self, content: Tensor) -> Tensor:
        """(S, dimension) first states of the LSTM, from the images' vectors.

        The vectors' values are first scaled to mean 0 and variance 1. The values of a vector of unit norm are so small
        that the state would hardly depend on the image, and all images would get the same sentence.
        """
        return self.image(self.dropout(functional.layer_norm(content, content.shape[1:]))).tanh()  # type: ignore[no-any-return]

    def begin(self, content: Tensor, tags: Tensor | None) -> tuple[Tensor, State]:
        """The first hidden state and memory; later steps read nothing more of the image."""
        hidden = self.initial_states(content).unsqueeze(1)
        return content, (hidden, hidden.new_zeros(hidden.shape))

    def step(self, begun: Tensor, number: int, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One step of the LSTM, and its logits."""
        vectors = self.decoder.inputs(words.flatten())
        hidden, memory = self.decoder.recurrent.step(vectors, state[0].flatten(0, 1), state[1].flatten(0, 1))
        logits = self.decoder.logits(hidden).unflatten(0, words.shape)
        return logits, (hidden.unflatten(0, words.shape), memory.unflatten(0, words.shape))


METHOD = LSTMCaptioner

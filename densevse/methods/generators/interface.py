"""The interface of every model that writes sentences about a vector, its content.

A generator is trained by the likelihood of sentences and decoded word by word. Word 0 is never a word of a sentence: as
an input it marks the start, as a target the end. A search writes R sentences at once, with B hypotheses for each: see
densevse/methods/generators/beam_search.py.

To add a generator, write two files. densevse/methods/generators/<name>.py defines one `Generator` and assigns it to
METHOD. densevse/methods/parameters/generators/<name>.py defines the type `Parameters` of its configuration.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

from torch import Tensor, nn

from densevse.kernels.recurrent import END as END
from densevse.methods.interface import Shapes

State: TypeAlias = tuple[Tensor, ...]  # (R, B, ...) each: the state of every hypothesis

CONTENT = "content"  # the one entry of a generator's `Shapes.features`: the length of a content vector


class Generator(nn.Module, ABC):
    """A model of sentences. `hyperparameters` are of the type `Parameters` of its own module of parameters."""

    structure: ClassVar[str]  # the structures of sentences that it reads: words or tags

    def __init__(self, parameters: Any, shapes: Shapes) -> None:
        super().__init__()
        self.hyperparameters = parameters
        self.shapes = shapes

    @property
    def follows_tags(self) -> bool:
        """True if a sentence is written along a sequence of part-of-speech tags."""
        return False

    @abstractmethod
    def negative_log_likelihood(self, content: Tensor, sentences: Any) -> Tensor:
        """(S,) minus the log probability of each sentence and its end, given its content (S, D)."""

    @abstractmethod
    def begin(self, content: Tensor, tags: Tensor | None) -> tuple[Tensor, State]:
        """Starts R sentences: a tensor (R, ...) that all steps read, and the state before the first words, (R, 1, ...).

        `content` is (R, D); `tags` (R, longest) are the numbers of the tags, for a generator that follows them.
        """

    @abstractmethod
    def step(self, begun: Tensor, number: int, words: Tensor, state: State) -> tuple[Tensor, State]:
        """(R, B, words) logits of the words after (R, B) words, and the new state. `number` is the step, from 0."""

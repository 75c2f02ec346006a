"""One interface for every model that writes sentences about a vector: the content.

It is trained by the likelihood of sentences, and decoded word by word. Word 0 is no word of a sentence: read, it stands
before the first word; predicted, it is the sentence's end. Of a generator R sentences are written at once, each with B
hypotheses that the search goes on with: see densevse/methods/generators/beam_search.py.

A new generator is densevse/methods/generators/<name>.py, whose one `Generator` is also called METHOD, and
densevse/methods/parameters/generators/<name>.py, whose type `Parameters` says what its configuration may set.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

from torch import Tensor, nn

from densevse.methods.interface import Shapes

State: TypeAlias = tuple[Tensor, ...]  # (R, B, ...) each: what hypotheses have become, one by one

END = 0
CONTENT = "content"  # the one entry of a generator's `Shapes.features`: the length of a content vector


class Generator(nn.Module, ABC):
    """A model of sentences. `hyperparameters` are of the type `Parameters` of its own module of parameters."""

    structure: ClassVar[str]  # of the sentences that it is trained on: words or tags

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
        """Begin R sentences: a tensor (R, ...) that all steps read, and the state before the first words, (R, 1, ...).

        `content` is (R, D); `tags` (R, longest) are the numbers of the tags, for a generator that follows them.
        """

    @abstractmethod
    def step(self, begun: Tensor, number: int, words: Tensor, state: State) -> tuple[Tensor, State]:
        """(R, B, words) logits of the words that follow (R, B) words, and the state then. `number` counts from 0."""

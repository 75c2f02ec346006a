"""The plan of a table of perplexity, and the methods that have one."""

from dataclasses import replace

from densevse.artifacts.identity import Identity
from densevse.config.values import Split
from densevse.report.plan import LastRoundsPlan
from snakeproof.strict import Strict


class PerplexityPlan(LastRoundsPlan):
    """A table of decoders after their last rounds, on a split of a data set."""

    split: Split

    def runs(self, name: str) -> list[Identity]:
        """The identity of a variant's artifacts for each seed."""
        return [replace(run, split=self.split) for run in super().runs(name)]


def has_decoder(parameters: Strict) -> bool:
    """True if a method with these parameters also trains a decoder of sentences: if its loss has a share of L_gen."""
    return getattr(parameters, "generation_weight", 0.0) > 0

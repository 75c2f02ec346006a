"""Proposals against true boxes in the plan: the proposers that a data set's table compares."""

from densevse.analyses.proposal_recall.plan import ProposalTablePlan
from densevse.analyses.proposal_recall.settings import ProposalRecallSettings
from densevse.dag.paths import Values
from densevse.dag.proposals import ProposalStage
from densevse.runtime.place import PACKAGE


class ProposalRecallStage(ProposalStage):
    """Recall and speed of proposers."""

    def proposals(self, dataset: str) -> list[Values]:
        """The shards of a proposer's proposals."""
        return self.shards(dataset)

    def segment_overlap(self, dataset: str, proposer: str) -> list[Values]:
        """The shards of segments' overlaps, if a proposer gives segments and the data set has masks."""
        known = self.config.proposers[proposer].kind == "mcg" and self.dataset(dataset).has_masks
        return self.shards(dataset) if known else []

    def compared(self, dataset: str) -> list[str]:
        """The data set's proposer, and those with which its table compares it."""
        compared = self.config.analysis(ProposalRecallSettings).of(dataset).proposers
        return list(dict.fromkeys([self.dataset(dataset).proposer, *compared]))

    def timed(self, dataset: str) -> list[str]:
        """The compared proposers whose every step is computed here."""
        searches = [name for name, proposer in self.config.proposers.items() if proposer.kind == "selective_search"]
        return [name for name in self.compared(dataset) if name in [*searches, *self.detecting()]]

    def recalls(self, dataset: str) -> list[Values]:
        """The recall of each compared proposer."""
        return [{"proposer": proposer} for proposer in self.compared(dataset)]

    def times(self, dataset: str) -> list[Values]:
        """The times of each timed proposer."""
        return [{"proposer": proposer} for proposer in self.timed(dataset)]

    def plan(self, dataset: str) -> ProposalTablePlan:
        """The plan of the table."""
        proposers, timed = self.compared(dataset), self.timed(dataset)
        return ProposalTablePlan(title=self.title(dataset), dataset=dataset, proposers=proposers, timed=timed)

    def published(self, dataset: str) -> list[Values]:
        """The published metrics of proposers on a data set, and how they were measured; empty without any."""
        kinds = ("csv", "yaml")
        files = {kind: PACKAGE / f"analyses/proposal_recall/published/{dataset}.{kind}" for kind in kinds}
        return [{"kind": kind} for kind, file in files.items() if file.is_file()]

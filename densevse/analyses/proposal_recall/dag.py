"""Proposals against true boxes in the plan: the proposers that a data set's table compares."""

from densevse.analyses.proposal_recall.settings import ProposalRecallSettings, ProposalTablePlan
from densevse.config.values import DatasetName
from densevse.dag.features import ProposalStage, find_proposers, mcg_options
from densevse.dag.fields import CONTOURS_OF_MCG, PROPOSALS_OF_MCG, dump_entry
from densevse.runtime.project import PACKAGE
from snakeproof.jobs import Job
from snakeproof.paths import Values


class ProposalRecallStage(ProposalStage):
    """Recall and speed of proposers."""

    def segment_overlap(self, dataset: DatasetName, proposer: str) -> list[Values]:
        """The shards of segments' overlaps, if a proposer gives segments and the data set has masks."""
        known = self.config.proposers[proposer].kind == "mcg" and self.dataset(dataset).has_masks
        return self.shards(dataset) if known else []

    def compared_proposers(self, dataset: DatasetName) -> list[Values]:
        """The data set's proposer, and those with which its table compares it."""
        compared = self.config.analysis(ProposalRecallSettings).dataset_entry(dataset).proposers
        return [{"proposer": name} for name in dict.fromkeys([self.dataset(dataset).proposer, *compared])]

    def timed_proposers(self, dataset: DatasetName) -> list[Values]:
        """The compared proposers whose every step is computed here."""
        here = find_proposers(self.config, "selective_search") + find_proposers(self.config, "mcg", maps=False)
        return [values for values in self.compared_proposers(dataset) if values["proposer"] in here]

    def times_job(self, dataset: DatasetName, proposer: str) -> Job:
        """The options of a proposer whose times are measured, and the names of a data set's sources."""
        entry = self.config.proposers[proposer]
        searches = entry.kind == "selective_search"
        names = [*CONTOURS_OF_MCG, *PROPOSALS_OF_MCG]
        options = dump_entry(entry.options) if searches else mcg_options(self.config, proposer, names)
        return Job({"options": options, "source_names": self.source_names(dataset)})

    def table_job(self, dataset: DatasetName) -> Job:
        """The plan of the table, as ProposalTablePlan."""
        compared, timed = (
            [row["proposer"] for row in rows]
            for rows in (self.compared_proposers(dataset), self.timed_proposers(dataset))
        )
        plan = ProposalTablePlan(title=self.title(dataset), dataset=dataset, proposers=compared, timed=timed)
        return Job({"plan": plan.model_dump(mode="json")})

    def published_metrics(self, dataset: DatasetName) -> list[Values]:
        """The published metrics of proposers on a data set, and how they were measured; empty without any."""
        kinds = ("csv", "yaml")
        files = {kind: PACKAGE / f"analyses/proposal_recall/published/{dataset}.{kind}" for kind in kinds}
        return [{"kind": kind} for kind, file in files.items() if file.is_file()]

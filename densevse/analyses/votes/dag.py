"""Ballots of learned correspondences, and people's votes on them (HM-LSTM, section 5.3.2)."""

import os
from typing import Any

from densevse.dag.project import Stage, Wildcards
from densevse.dag.tables import Tables
from densevse.dag.training import Training
from densevse.runtime.errors import InputError


class Ballots(Stage):
    """What people are asked of learned correspondences, and what they answer."""

    def correspondences(self, wildcards: Wildcards) -> str:
        """What a variant's first seed learned for its last round. Raises `InputError` for one that learns none."""
        if not self.variant(wildcards).last_round:
            learning = [name for name in self.config.variant_names() if self._learns(name, wildcards.dataset)]
            raise InputError(
                f"ballots: {wildcards.variant} learns no correspondences on {wildcards.dataset}; those that do are "
                f"{', '.join(learning)}."
            )
        return Training(self.project).last_correspondences(wildcards)

    def parses(self, wildcards: Wildcards) -> list[str]:
        """The parses that phrases are spans of."""
        dataset = wildcards.dataset
        return self.shards(f"{self.results}/{dataset}/parses/{self.dataset(wildcards).parser}", dataset)

    def drawn(self, wildcards: Wildcards) -> dict[str, int]:
        """How many pairs are drawn, and from which seed."""
        ballot = self.dataset(wildcards).ballot
        return {"pairs": ballot.pairs, "seed": ballot.seed}

    def title_of_ballot(self, wildcards: Wildcards) -> str:
        """The title of a ballot's page."""
        return f"Regions of phrases to judge: {self.variant(wildcards).title} on {self.title(wildcards)}"

    def votes(self, wildcards: Wildcards) -> str:
        """The user's file of votes on a variant's ballot.

        Raises `InputError` where there is none, or where it is the sheet that the workflow writes anew.
        """
        dataset, variant = wildcards.dataset, wildcards.variant
        given = self.dataset(wildcards).votes
        if variant not in given:
            raise InputError(self._asked_for(dataset, variant))
        if os.path.realpath(given[variant]) == os.path.realpath(self._sheet(dataset, variant)):
            raise InputError(
                f"datasets.{dataset}.votes.{variant}: {given[variant]} is the sheet that is written with the ballot, "
                "which may come anew. Move it elsewhere with its votes, and name that file."
            )
        return given[variant]

    def ballots_of_table(self, wildcards: Wildcards) -> list[str]:
        """The ballot of each variant with votes. Raises `InputError` where there are no votes."""
        return [f"{self.results}/{wildcards.dataset}/ballots/{name}.parquet" for name in self._voted(wildcards)]

    def votes_of_table(self, wildcards: Wildcards) -> list[str]:
        """The votes on the same ballots."""
        return [f"{self.results}/{wildcards.dataset}/votes/{name}.parquet" for name in self._voted(wildcards)]

    def boxes(self, wildcards: Wildcards) -> list[str]:
        """The true boxes, where phrases have such."""
        known = Tables(self.project).phrases_have_boxes(wildcards.dataset)
        return [f"{self.results}/{wildcards.dataset}/boxes.parquet"] if known else []

    def published(self, wildcards: Wildcards) -> str:
        """The published figures by votes."""
        return self.project.packaged("config/published/votes/hm_lstm.csv")

    def settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table of votes says of its making."""
        names = self._voted(wildcards)
        return {
            "title": self.title(wildcards),
            "seed": self.dataset(wildcards).seeds[0],
            "measured": {name: self.project.variant(name, wildcards.dataset).title for name in names},
        }

    def _voted(self, wildcards: Wildcards) -> list[str]:
        given = list(self.dataset(wildcards).votes)
        if not given:
            raise InputError(self._asked_for(wildcards.dataset, "hm_lstm"))
        return given

    def _asked_for(self, dataset: str, variant: str) -> str:
        return (
            f"datasets.{dataset}.votes.{variant}: name a CSV file of people's votes, with the columns pair, voter, "
            f"correct. {self.results}/{dataset}/ballots/{variant}.html is the page that shows them the pairs, and "
            f"{self._sheet(dataset, variant)} a sheet for their votes; ask snakemake for the page."
        )

    def _sheet(self, dataset: str, variant: str) -> str:
        return f"{self.results}/{dataset}/ballots/{variant}.csv"

    def _learns(self, variant: str, dataset: str) -> bool:
        return self.project.variant(variant, dataset).last_round > 0

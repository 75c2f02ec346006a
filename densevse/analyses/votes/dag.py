"""Ballots of learned correspondences and people's votes on them, in the plan (HM-LSTM, section 5.3.2)."""

import os

from densevse.analyses.votes.settings import VoteSettings, VotesOnDataset, VoteTablePlan
from densevse.config.values import DatasetName, VariantName
from densevse.dag.project import Stage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class BallotStage(Stage):
    """The learned correspondences that people judge, and their votes."""

    def correspondences(self, dataset: DatasetName, variant: VariantName) -> Values:
        """The correspondences of a variant's first seed and last round. Raises `InputError` if it learns none."""
        last = self.variant(dataset, variant).last_round
        if not last:
            learning = [name for name in self.config.variant_names() if self.variant(dataset, name).last_round]
            raise InputError(
                f"ballots: {variant} learns no correspondences on {dataset}; those that do are {', '.join(learning)}."
            )
        return self.round_correspondences(dataset, variant, self.first_seed(dataset), last)

    def votes_file(self, dataset: DatasetName, variant: VariantName) -> str:
        """The user's file of votes on a variant's ballot.

        Raises `InputError` if there is none, or if it is the sheet that the workflow writes.
        """
        given = self._settings(dataset).files
        if variant not in given:
            raise InputError(self._missing_message(dataset, variant))
        if os.path.realpath(given[variant]) == os.path.realpath(self._sheet_path(dataset, variant)):
            raise InputError(
                f"votes.{dataset}.files.{variant}: {given[variant]} is the workflow's own sheet, which it may "
                "overwrite. Move the sheet with its votes elsewhere, and name that file."
            )
        return given[variant]

    def voted_variants(self, dataset: DatasetName) -> list[Values]:
        """The variants with votes. Raises `InputError` if there are none."""
        return [{"variant": name} for name in self._voted_names(dataset)]

    def table_job(self, dataset: DatasetName) -> Job:
        """The table of votes."""
        plan = VoteTablePlan(
            title=self.title(dataset),
            dataset=dataset,
            seed=self.first_seed(dataset),
            measured={name: self.project.variant(dataset, name).title for name in self._voted_names(dataset)},
        )
        return Job({"plan": plan.model_dump(mode="json")})

    def _settings(self, dataset: DatasetName) -> VotesOnDataset:
        return self.config.analysis(VoteSettings).dataset_entry(dataset)

    def _voted_names(self, dataset: DatasetName) -> list[VariantName]:
        given = list(self._settings(dataset).files)
        if not given:
            raise InputError(self._missing_message(dataset, VariantName("hm_lstm")))
        return given

    def _missing_message(self, dataset: DatasetName, variant: VariantName) -> str:
        return (
            f"votes.{dataset}.files.{variant}: name a CSV file of people's votes, with the columns pair, voter, "
            f"correct. {self.results}/{dataset}/ballots/{variant}.html is the page with the pairs, and "
            f"{self._sheet_path(dataset, variant)} a sheet for votes; run snakemake with the page as its target."
        )

    def _sheet_path(self, dataset: DatasetName, variant: VariantName) -> str:
        return f"{self.results}/{dataset}/ballots/{variant}.csv"

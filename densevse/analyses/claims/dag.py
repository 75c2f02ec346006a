"""Claims of papers: the measured rows that test each one, on each data set."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from densevse.analyses.claims.plan import ClaimedSection, ClaimPlan, ClaimsPlan
from densevse.analyses.claims.settings import Claim, ClaimRow, ClaimSettings
from densevse.config.tables import Protocol, SectionConfig
from densevse.dag.paths import Values
from densevse.dag.project import any_of
from densevse.dag.tables import TableStage, check_phrases
from densevse.runtime.errors import InputError
from densevse.tables.plan import MeasuredVariant


class ClaimTest(NamedTuple):
    """A claim with all that its test on a data set needs."""

    where: str  # the path of the claim in the configuration
    paper: str  # the paper's name
    claim: Claim
    protocol: Protocol
    seeds: tuple[int, ...]


class ClaimStage(TableStage):
    """Tables of claims.

    results/tables/<data set>_claims.md has every claim. results/tables/<data set>_main_claims.md has those whose rows
    are measured anyway, for the data set's main table, its rounds or its regions; it takes no training of its own.
    """

    def of_dataset(self, dataset: str) -> list[str]:
        """The table of claims that the rows of a data set's main table test, where there are such."""
        return [f"{self.results}/tables/{dataset}_main_claims.md"] if self._main(dataset) else []

    def claimed(self) -> str:
        """The data sets that claims are tested on."""
        papers = [paper for _, paper in self.config.analysis(ClaimSettings).items()]
        return any_of(name for name in self.config.datasets if any(list(paper.on(name)) for paper in papers))

    def evidence(self, dataset: str) -> list[str | Values]:
        """The retrievals of the rows of every claim, of each seed.

        Raises `InputError` for a claim that cannot be tested on the data set, by its path.
        """
        tests = self._every(dataset)
        for test in tests:
            self._check(dataset, test)
        return self._evidence(dataset, tests)

    def main_evidence(self, dataset: str) -> list[str | Values]:
        """The retrievals of the rows of those claims that the main table's rows test.

        Raises `InputError` where there is no such claim.
        """
        tests = self._main(dataset)
        if not tests:
            raise InputError(
                f"tables.{dataset}.measure: no claim compares two of these rows; measure more of them, or make "
                f"{self.results}/tables/{dataset}_claims.md, which measures the rows that claims name."
            )
        return self._evidence(dataset, tests)

    def plan_of_claims(self, dataset: str) -> ClaimsPlan:
        """The plan of the table of every claim."""
        return self._plan(f"{self.title(dataset)}: claims", dataset, self._every(dataset))

    def plan_of_main_claims(self, dataset: str) -> ClaimsPlan:
        """The plan of the table of those claims that the main table's rows test."""
        title = f"{self.title(dataset)}: claims that rows of its main table test"
        return self._plan(title, dataset, self._main(dataset))

    def _every(self, dataset: str) -> list[ClaimTest]:
        """Every claim that is tested on a data set."""
        return [
            ClaimTest(
                f"claims.{key}.claims.{name}",
                paper.title,
                claim,
                claim.protocol or paper.datasets[dataset].protocol,
                tuple(paper.datasets[dataset].seeds or self.dataset(dataset).seeds),
            )
            for key, paper in self.config.analysis(ClaimSettings).items()
            for name, claim in paper.on(dataset)
        ]

    def _main(self, dataset: str) -> list[ClaimTest]:
        """The claims whose rows are measured anyway with the data set's own seeds."""
        tables = [name for name in (dataset, f"{dataset}_regions") if name in self.names()]
        measured = [one for name in tables for one in self.retrievals(name)] + self.retrievals_of_rounds(dataset)
        tests = [test._replace(seeds=tuple(self.dataset(dataset).seeds)) for test in self._every(dataset)]
        return [test for test in tests if all(one in measured for one in self._evidence(dataset, [test]))]

    def _evidence(self, dataset: str, tests: Sequence[ClaimTest]) -> list[str | Values]:
        return [
            self.retrieval(dataset, test.protocol, row.variant, seed, row.round)
            for test in tests
            for row in (test.claim.better, test.claim.worse)
            for seed in test.seeds
        ]

    def _plan(self, title: str, dataset: str, tests: Sequence[ClaimTest]) -> ClaimsPlan:
        alike: dict[tuple[Protocol, tuple[int, ...]], list[ClaimTest]] = {}
        for test in tests:
            alike.setdefault((test.protocol, test.seeds), []).append(test)
        found = [self._claimed_section(dataset, of_section) for of_section in alike.values()]
        return ClaimsPlan(title=title, sections=found, configured=self._configured([one.section for one in found]))

    def _claimed_section(self, dataset: str, tests: Sequence[ClaimTest]) -> ClaimedSection:
        """The section of claims that have one protocol and the same seeds."""
        protocol, seeds = tests[0].protocol, list(tests[0].seeds)
        rows = {str(row): row for test in tests for row in (test.claim.better, test.claim.worse)}
        measured = {name: self._measured_row(row, dataset, seeds) for name, row in rows.items()}
        section = self._section(SectionConfig(dataset=dataset, protocol=protocol, seeds=seeds), [])
        return ClaimedSection(
            section=section.model_copy(update={"measured": measured}),
            claims=[
                ClaimPlan(
                    paper=test.paper,
                    title=test.claim.title,
                    place=test.claim.place,
                    note=test.claim.note,
                    metric=test.claim.metric,
                    better=str(test.claim.better),
                    worse=str(test.claim.worse),
                )
                for test in tests
            ],
        )

    def _measured_row(self, row: ClaimRow, dataset: str, seeds: list[int]) -> MeasuredVariant:
        measured = self._measured_variant(row.variant, dataset, seeds)
        if row.round is None:
            return measured
        model = self.round_of(dataset, row.variant, seeds[0], row.round)["variant"]
        title = f"{measured.title}, round {row.round}"
        return measured.model_copy(update={"title": title, "model": model, "round": row.round})

    def _check(self, dataset: str, test: ClaimTest) -> None:
        """Raise `InputError` for a round that is not trained, for phrases without boxes, or for one model twice."""
        rows: Mapping[str, ClaimRow] = {"better": test.claim.better, "worse": test.claim.worse}
        for side, row in rows.items():
            if row.round is not None and row.round > (last := self.variant(dataset, row.variant).last_round):
                raise InputError(
                    f"{test.where}.{side}.round: {row.variant} has the rounds 0 to {last} on {dataset}, and no round "
                    f"{row.round}; name one of these, or leave {dataset} out of the claim's datasets."
                )
        if test.protocol == "regions" and not self.phrases_have_boxes(dataset):
            raise InputError(
                f"{test.where}.datasets: phrases of {dataset} have no true boxes, which the protocol regions ranks; "
                f"give some as datasets.{dataset}.boxes, or leave {dataset} out of the claim's datasets."
            )
        if test.protocol == "regions":
            check_phrases(test.where, [row.variant for row in rows.values()], dataset, self.project)
        better, worse = (self.retrieval(dataset, test.protocol, row.variant, 0, row.round) for row in rows.values())
        if better == worse:
            raise InputError(
                f"{test.where}.worse: on {dataset} {test.claim.worse} is the same model as {test.claim.better}; name "
                "another row."
            )

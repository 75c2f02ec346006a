"""Settings of claims: which two rows test each claim of a paper, entries/<paper>.yaml, or of an experiment.

A controlled experiment is a file of the same kind with a `question`. The plan of a table of claims is what its job is
given.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from densevse.config.analyses import Entries
from densevse.config.config import Config
from densevse.config.tables import Different, Protocol
from densevse.config.values import DatasetKey, DatasetName, Seeds, VariantName
from densevse.evaluation.metrics import METRIC_COLUMNS
from densevse.report.plan import MeasuringPlan, SectionPlan
from snakeproof.strict import FileName, Strict, Title, check_known_names

OURS = "ours"
"""The place of a claim for which the paper prints no figures."""


def _check_metric(name: str) -> str:
    if name not in METRIC_COLUMNS:
        raise ValueError(f"no {name!r}; known: {', '.join(METRIC_COLUMNS)}")
    return name


class ClaimRow(Strict):
    """A row that a claim compares."""

    variant: VariantName = Field(description="a variant or an ensemble of config/methods")
    round: int | None = Field(default=None, ge=0, description="the round that is measured; by default the last one")

    def __str__(self) -> str:
        return self.variant if self.round is None else f"{self.variant} round {self.round}"


class CannotShow(Strict):
    """Why a set-up cannot show a claim, and what keeps this from being an excuse for a figure on test."""

    reason: str = Field(description="the reason, as the end of a sentence")
    registered: str | None = Field(
        None, pattern="^[0-9a-f]{7,40}$", description="the commit that said so before the first figure on test was read"
    )
    measured: str | None = Field(None, description="the experiment, or the row of the lab notebook, that shows it")

    @model_validator(mode="before")
    @classmethod
    def _has_evidence(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or (given.get("registered") is None) == (given.get("measured") is None):
            raise ValueError(
                "give a reason, and either registered (the commit that said so before the first figure on test) or "
                "measured (what shows it); without either, make it a note of the claim"
            )
        return given

    def __str__(self) -> str:
        shown = f"said in commit {self.registered}, before the first figure" if self.registered else self.measured
        return f"{self.reason} ({shown})"


class Claim(Strict):
    """A claim that one row is better than another one."""

    title: Title = Field(description="the claim in one sentence")
    place: str = Field(description=f"where it stands in the paper, such as Table 2; `{OURS}` where no figures do")
    better: ClaimRow = Field(description="the row that the claim calls better")
    worse: ClaimRow
    metric: Annotated[str, AfterValidator(_check_metric), Field(json_schema_extra={"enum": list(METRIC_COLUMNS)})] = (
        Field(default="rsum", description="the metric that decides; of ranks the lower one is better")
    )
    protocol: Protocol | None = Field(default=None, description="instead of the protocol of the data set")
    datasets: Different[DatasetName] | None = Field(
        default=None, description="only these of the paper's data sets; all by default"
    )
    least_gain: float | None = Field(
        default=None, ge=0, description="a gain that each seed must show, too, before the claim is called supported"
    )
    note: str | None = Field(default=None, description="what must be known to read the verdict")
    cannot_show: dict[DatasetKey, CannotShow] = Field(
        default={},
        description="data set -> why its set-up cannot show the claim, which then has no other verdict; also of its "
        "resplits",
    )

    @model_validator(mode="after")
    def _rows_differ(self) -> Self:
        if self.better == self.worse:
            raise ValueError(f"worse: {self.worse} is the better row too; name another one")
        return self


class TestedOn(Strict):
    """The protocol and the seeds of a paper's claims on a data set."""

    protocol: Protocol = Field(default="full", description="which images and sentences are ranked together")
    seeds: Seeds | None = Field(default=None, description="instead of the data set's own")


class PaperClaims(Strict):
    """The claims of a paper, or what a controlled experiment on its method expects."""

    title: Title = Field(description="the paper's name in the table")
    question: str | None = Field(
        default=None,
        description="what a controlled experiment asks; results/experiments/<name>.md answers it, and tables of the "
        "claims on a data set leave it out",
    )
    conclusion: str | None = Field(default=None, description="what the experiment's figures say, once there are some")
    datasets: dict[DatasetKey, TestedOn] = Field(description="the data sets that its claims are tested on")
    claims: dict[FileName, Claim]

    def dataset_claims(self, dataset: DatasetName) -> Iterator[tuple[str, Claim]]:
        """The names and claims that are tested on a data set."""
        for name, claim in self.claims.items():
            if dataset in self.datasets and (claim.datasets is None or dataset in claim.datasets):
                yield name, claim

    @model_validator(mode="after")
    def _conclusion_of_a_question(self) -> Self:
        if self.conclusion and not self.question:
            raise ValueError("question: say what is asked, as there is a conclusion")
        return self


class ClaimSettings(Entries[PaperClaims]):
    """Paper -> its claims."""

    FOLDERS: ClassVar = frozenset({"experiments"})

    def check(self, config: Config) -> None:
        """Raise `ValueError` for a data set, variant or ensemble that there is none of, or a round of an ensemble."""
        for paper, entry in self.items():
            check_known_names(f"claims.{paper}.datasets", entry.datasets, config.datasets)
            for name, claim in entry.claims.items():
                where = f"claims.{paper}.claims.{name}"
                check_known_names(f"{where}.datasets", claim.datasets or [], entry.datasets)
                check_known_names(f"{where}.cannot_show", claim.cannot_show, config.datasets)
                _check_row(f"{where}.better", claim.better, config)
                _check_row(f"{where}.worse", claim.worse, config)


def _check_row(where: str, row: ClaimRow, config: Config) -> None:
    ensembles = config.ensembles()
    check_known_names(f"{where}.variant", [row.variant], [*config.variant_names(), *ensembles])
    if row.round is not None and row.variant in ensembles:
        raise ValueError(f"{where}.round: {row.variant} is an ensemble, which has no rounds; leave the round out")


class PrintedGain(Strict):
    """What a paper prints for a claim: the recalls of the better row, minus those of the worse row."""

    gain: float
    source: str = Field(description="table and data set")
    comparable: bool = Field(description="whether it has all six recalls, and photographs are measured here too")


class ClaimPlan(Strict):
    """A claim, and the two measured rows of its section that test it."""

    paper: str = Field(description="the paper's name")
    title: str = Field(description="the claim in one sentence")
    place: str
    note: str | None = None
    metric: str
    better: str = Field(description="the row that is claimed to be better")
    worse: str
    least_gain: float | None = Field(
        default=None, description="that each seed must show before the claim is called supported"
    )
    cannot_show: str | None = Field(default=None, description="why the set-up cannot show the claim")
    printed: PrintedGain | None = None


class ClaimedSection(Strict):
    """Claims that are tested on a data set under one protocol with the same seeds."""

    section: SectionPlan
    claims: list[ClaimPlan]


class PoolPlan(Strict):
    """Resplits of one data set under one protocol, over which claims have means."""

    section: SectionPlan = Field(
        description="the rows of all resplits, under the name of the data set that they divide"
    )
    resplits: list[DatasetName] = Field(description="the data sets of the resplits")
    train: int = Field(description="images of each resplit's split train")
    test: int = Field(description="images of each resplit's split test")


class ClaimsPlan(MeasuringPlan):
    """A table of claims."""

    sections: list[ClaimedSection]
    pools: list[PoolPlan] = Field(default=[], description="of an experiment on resplits")
    question: str | None = Field(default=None, description="of a controlled experiment")
    conclusion: str | None = None

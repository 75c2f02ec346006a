"""Claims of papers: the measured rows that test each one, on each data set."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from densevse.analyses.claims.printed import parse_place, printed_comparison
from densevse.analyses.claims.settings import (
    Claim,
    ClaimedSection,
    ClaimPlan,
    ClaimRow,
    ClaimSettings,
    ClaimsPlan,
    PaperClaims,
    PoolPlan,
    PrintedGain,
)
from densevse.config.tables import Protocol, SectionConfig
from densevse.config.values import DatasetName
from densevse.dag import rows, tables
from densevse.dag.datasets import Resplits, group_resplits
from densevse.dag.project import Project, name_pattern
from densevse.dag.tables import check_phrases
from densevse.evaluation.metrics import RECALL_COLUMNS
from densevse.report.plan import MeasuredVariant, SectionPlan
from densevse.report.published import PublishedRow, read_paper, read_published_rows
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class ClaimTest(NamedTuple):
    """A claim with all that its test on a data set needs."""

    where: str  # the path of the claim in the configuration
    dataset: DatasetName
    paper: str  # the paper's name
    claim: Claim
    protocol: Protocol
    seeds: tuple[int, ...]


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The table of claims that the rows of a data set's main table test, where there are such."""
    return [f"{project.results}/tables/{dataset}_main_claims.md"] if _main_tests(project, dataset) else []


def claimed_datasets(project: Project) -> str:
    """The data sets that claims are tested on."""
    return name_pattern(name for name in project.config.datasets if _dataset_tests(project, name))


def experiment_evidence(project: Project, experiment: str) -> list[str | Values]:
    """The retrievals of the rows of an experiment. Raises `InputError` as `evidence` does."""
    return _checked_evidence(project, _experiment_tests(project, experiment))


def evidence(project: Project, dataset: DatasetName) -> list[str | Values]:
    """The retrievals of the rows of every claim, of each seed.

    Raises `InputError` for a claim that cannot be tested on the data set, by its path.
    """
    return _checked_evidence(project, _dataset_tests(project, dataset))


def main_evidence(project: Project, dataset: DatasetName) -> list[str | Values]:
    """The retrievals of the rows of those claims that the main table's rows test.

    Raises `InputError` where there is no such claim.
    """
    tests = _main_tests(project, dataset)
    if not tests:
        raise InputError(
            f"tables.{dataset}.measure: no claim compares two of these rows; measure more of them, or make "
            f"{project.results}/tables/{dataset}_claims.md, which measures the rows that claims name."
        )
    return _evidence(project, tests)


def job(project: Project, dataset: DatasetName) -> Job:
    """The table of every claim."""
    return _job(project, f"{project.datasets[dataset].title}: claims", _dataset_tests(project, dataset))


def main_job(project: Project, dataset: DatasetName) -> Job:
    """The table of those claims that the main table's rows test."""
    return _job(
        project,
        f"{project.datasets[dataset].title}: claims that rows of its main table test",
        _main_tests(project, dataset),
    )


def experiment_job(project: Project, experiment: str) -> Job:
    """The page of an experiment."""
    entry = _entries(project)[experiment]
    tests = _experiment_tests(project, experiment)
    return _job(project, entry.title, tests, question=entry.question, conclusion=entry.conclusion)


def _entries(project: Project) -> Mapping[str, PaperClaims]:
    return project.config.analysis(ClaimSettings).root


def _dataset_tests(project: Project, dataset: DatasetName) -> list[ClaimTest]:
    """Every claim of a paper that is tested on a data set; those of experiments are left out."""
    papers = [name for name, entry in _entries(project).items() if not entry.question]
    return [test for name in papers for test in _tests(project, name, dataset)]


def _experiment_tests(project: Project, experiment: str) -> list[ClaimTest]:
    """Every claim of an experiment, on each of its data sets."""
    datasets = _entries(project)[experiment].datasets
    return [test for dataset in datasets for test in _tests(project, experiment, dataset)]


def _tests(project: Project, key: str, dataset: DatasetName) -> list[ClaimTest]:
    """The claims of a paper or an experiment on a data set."""
    entry = _entries(project)[key]
    return [
        ClaimTest(
            f"claims.{key}.claims.{name}",
            dataset,
            entry.title,
            claim,
            claim.protocol or entry.datasets[dataset].protocol,
            tuple(entry.datasets[dataset].seeds or project.datasets[dataset].seeds),
        )
        for name, claim in entry.dataset_claims(dataset)
    ]


def _main_tests(project: Project, dataset: DatasetName) -> list[ClaimTest]:
    """The claims whose rows are measured anyway with the data set's own seeds."""
    own = [name for name in (dataset, f"{dataset}_regions") if name in tables.names(project)]
    measured = [one for name in own for one in tables.retrievals(project, name)]
    measured += tables.retrievals_of_rounds(project, dataset)
    tests = [test._replace(seeds=tuple(project.datasets[dataset].seeds)) for test in _dataset_tests(project, dataset)]
    return [test for test in tests if all(one in measured for one in _evidence(project, [test]))]


def _checked_evidence(project: Project, tests: Sequence[ClaimTest]) -> list[str | Values]:
    for test in tests:
        _check_test(project, test)
    return _evidence(project, tests)


def _evidence(project: Project, tests: Sequence[ClaimTest]) -> list[str | Values]:
    return [
        tables.retrieval(project, test.dataset, test.protocol, row.variant, seed, row.round)
        for test in tests
        for row in (test.claim.better, test.claim.worse)
        for seed in test.seeds
    ]


def _job(project: Project, title: str, tests: Sequence[ClaimTest], **texts: str | None) -> Job:
    alike: dict[tuple[DatasetName, Protocol, tuple[int, ...]], list[ClaimTest]] = {}
    for test in tests:
        alike.setdefault((test.dataset, test.protocol, test.seeds), []).append(test)
    found = [_claimed_section(project, of_section) for of_section in alike.values()]
    sections = [one.section for one in found]
    plan = ClaimsPlan(title=title, sections=found, pools=_pools(project, sections), **texts)
    return Job({"plan": plan.model_dump(mode="json")})


def _pools(project: Project, sections: Sequence[SectionPlan]) -> list[PoolPlan]:
    """The sections of resplits, joined where two or more have the same data set, sizes and protocol."""
    of_protocol: dict[Protocol, dict[DatasetName, list[SectionPlan]]] = {}
    for section in sections:
        of_protocol.setdefault(section.protocol, {}).setdefault(section.dataset, []).append(section)
    return [
        _pool(project, resplits, [one for name in resplits.names for one in found[name]])
        for found in of_protocol.values()
        for resplits in group_resplits(found, project.config.datasets)
    ]


def _pool(project: Project, resplits: Resplits, sections: Sequence[SectionPlan]) -> PoolPlan:
    joined = {"title": project.datasets[resplits.of].title, "dataset": resplits.of, "measured": _merge_rows(sections)}
    section = sections[0].model_copy(update=joined)
    return PoolPlan(section=section, resplits=resplits.names, train=resplits.train, test=resplits.test)


def _claimed_section(project: Project, tests: Sequence[ClaimTest]) -> ClaimedSection:
    """The section of claims that have one data set, one protocol and the same seeds."""
    dataset, protocol, seeds = tests[0].dataset, tests[0].protocol, list(tests[0].seeds)
    rows = {str(row): row for test in tests for row in (test.claim.better, test.claim.worse)}
    measured = {name: _measured_row(project, row, dataset, seeds) for name, row in rows.items()}
    section = tables.plan_section(project, SectionConfig(dataset=dataset, protocol=protocol, seeds=seeds), [])
    return ClaimedSection(
        section=section.model_copy(update={"measured": measured}),
        claims=[_claim_plan(project, test) for test in tests],
    )


def _claim_plan(project: Project, test: ClaimTest) -> ClaimPlan:
    claim, origin = test.claim, project.image_dataset(test.dataset)
    cannot_show = claim.cannot_show.get(test.dataset, claim.cannot_show.get(origin))
    return ClaimPlan(
        paper=test.paper,
        title=claim.title,
        place=claim.place,
        note=claim.note,
        metric=claim.metric,
        better=str(claim.better),
        worse=str(claim.worse),
        least_gain=claim.least_gain,
        cannot_show=str(cannot_show) if cannot_show else None,
        printed=_printed_gain(project, test, origin) if claim.metric == "rsum" else None,
    )


def _printed_gain(project: Project, test: ClaimTest, origin: DatasetName) -> PrintedGain | None:
    """The gain that the claim's paper prints, on `origin` or else on another data set."""
    paper, numbers = parse_place(test.claim.place, test.paper)
    found_rows = [row for row in _published_rows(project).get(paper, []) if row.table in numbers]
    found = printed_comparison(found_rows, test.claim, origin, test.protocol)
    if found is None:
        return None
    of, recalls = found.better, len(found.recalls)
    photographs = origin in {row.dataset for rows in _published_rows(project).values() for row in rows}
    some = "" if recalls == len(RECALL_COLUMNS) else f", {recalls} recalls"
    source = f"Table {of.table}, {project.config.datasets[DatasetName(of.dataset)].title}{some}"
    return PrintedGain(gain=round(found.gain, 1), source=source, comparable=photographs and not some)


@cache
def _published_rows(project: Project) -> dict[str, list[PublishedRow]]:
    """Name of a paper -> its printed rows."""
    files = sorted((project.root / "config/published").glob("*.csv"))
    return {read_paper(file.with_suffix(".yaml")).name: read_published_rows([file]) for file in files}


def _measured_row(project: Project, row: ClaimRow, dataset: DatasetName, seeds: list[int]) -> MeasuredVariant:
    measured = rows.measured_variant(project, dataset, row.variant, seeds)
    if row.round is None:
        return measured
    model = project.variant_round(dataset, row.variant, seeds[0], row.round)["variant"]
    title = f"{measured.title}, round {row.round}"
    return measured.model_copy(update={"title": title, "model": model, "round": row.round})


def _check_test(project: Project, test: ClaimTest) -> None:
    """Raise `InputError` for a round that is not trained, for phrases without boxes, or for one model twice."""
    dataset = test.dataset
    rows: Mapping[str, ClaimRow] = {"better": test.claim.better, "worse": test.claim.worse}
    for side, row in rows.items():
        if row.round is not None and row.round > (last := project.variant(dataset, row.variant).last_round):
            raise InputError(
                f"{test.where}.{side}.round: {row.variant} has the rounds 0 to {last} on {dataset}, and no round "
                f"{row.round}; name one of these, or leave {dataset} out of the claim's datasets."
            )
    if test.protocol == "regions" and not project.datasets[dataset].phrases_have_boxes:
        raise InputError(
            f"{test.where}.datasets: phrases of {dataset} have no true boxes, which the protocol regions ranks; "
            f"give some as datasets.{dataset}.boxes, or leave {dataset} out of the claim's datasets."
        )
    if test.protocol == "regions":
        check_phrases(project, dataset, [row.variant for row in rows.values()], test.where)
    better, worse = (
        tables.retrieval(project, dataset, test.protocol, row.variant, 0, row.round) for row in rows.values()
    )
    if better == worse:
        raise InputError(
            f"{test.where}.worse: on {dataset} {test.claim.worse} is the same model as {test.claim.better}; name "
            "another row."
        )


def _merge_rows(sections: Sequence[SectionPlan]) -> dict[str, MeasuredVariant]:
    """The rows of resplits. Raises `InputError` for one that has other settings or seeds on another resplit."""
    found: dict[str, tuple[str, MeasuredVariant]] = {}
    for section in sections:
        for name, row in section.measured.items():
            dataset, first = found.setdefault(name, (section.dataset, row))
            if row != first:
                raise InputError(
                    f"{name} has other settings or seeds on {section.dataset} than on {dataset}, and no mean over both "
                    "would be of one method; set them alike."
                )
    return {name: row for name, (_, row) in found.items()}

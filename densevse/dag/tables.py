"""Tables of results in the plan: their sections and rows, and the artifacts of these."""

from collections.abc import Callable, Iterable
from typing import Any

from densevse.config.config import Config
from densevse.config.methods import MethodConfig
from densevse.config.tables import Protocol, SectionConfig, Table
from densevse.config.values import DatasetName, VariantName
from densevse.dag import rows
from densevse.dag.project import Project
from densevse.report.plan import (
    GainsPlan,
    GainsSection,
    LastRound,
    LastRoundsPlan,
    RoundPlan,
    RoundsPlan,
    SectionPlan,
    TablePlan,
)
from densevse.report.published import PublishedRow, check_names, read_published_rows
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values
from snakeproof.strict import list_known_names

_REGIONS = "regions"


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The tables of a data set's results: its main table and, if it has them, those of its rounds and regions."""
    names: list[str] = [dataset]
    names += [f"{dataset}_rounds"] if _learning_variants(project, dataset) else []
    names += [f"{dataset}_regions"] if f"{dataset}_regions" in project.config.tables else []
    gains = [f"{project.results}/figures/{name}_gains.svg" for name in names if _has_gains(project, name)]
    return [*(f"{project.results}/tables/{name}.md" for name in names), *gains]


def names(project: Project) -> list[str]:
    """Every table of config/tables, and a main table for each data set without one there."""
    return list(dict.fromkeys([*project.config.tables, *project.config.datasets]))


def check_table_names(project: Project, makers: Callable[[str], list[str]]) -> None:
    """Raises `InputError` for a user's table with the name of one that another rule makes.

    `makers` returns the rules that make a path. The project's own names are not checked here, as matching them with
    the outputs of all rules takes a sixth of a dry run; a test does it.
    """
    for name in names(project):
        if (project.root / f"config/tables/{name}.yaml").is_file():
            continue
        kind, path = "tables" if name in project.config.tables else "datasets", f"{project.results}/tables/{name}.md"
        others = [rule for rule in makers(path) if rule != "table"]
        if others:
            raise InputError(f"{kind}.{name}: the rule {others[0]} makes {path} too; give it another name.")


def gain_tables(project: Project) -> list[str]:
    """The tables with a reference row."""
    return [name for name in names(project) if _has_gains(project, name)]


def find_table(project: Project, name: str) -> Table:
    """A table's entry.

    The default main table of a data set, without one in config/tables, measures every trained method by its own
    name.
    """
    if name in project.config.tables:
        return project.config.tables[name]
    dataset = DatasetName(name)
    trained = [method for method, entry in project.config.method_entries().items() if not entry.is_untrained]
    return Table(
        title=project.config.datasets[dataset].title, sections=[SectionConfig(dataset=dataset)], measure=trained
    )


def variants(project: Project, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
    """The settings on a data set of each variant in its main table."""
    known = set(project.config.variant_names())
    measured = find_table(project, dataset).measure
    return {name: project.variant(dataset, name) for name in measured if name in known}


def _learning_variants(project: Project, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
    """The variants in a data set's main table that learn correspondences."""
    return {name: entry for name, entry in variants(project, dataset).items() if entry.last_round}


def last_rounds(project: Project, dataset: DatasetName, names: Iterable[VariantName] | None = None) -> list[Values]:
    """The last round of each variant, of each seed; by default of those in the data set's main table."""
    measured = variants(project, dataset) if names is None else names
    return [
        project.last_round(dataset, name, seed)
        for name in measured
        for seed in _seeds(project, name, SectionConfig(dataset=dataset))
    ]


def plan_of_last_rounds(project: Project, dataset: DatasetName, variants: Iterable[VariantName]) -> LastRoundsPlan:
    """The plan of a table of the last rounds of variants."""
    measured: dict[str, LastRound] = {}
    for name in variants:
        last, seeds = project.last_round(dataset, name), _seeds(project, name, SectionConfig(dataset=dataset))
        title = project.variant(dataset, name).title
        measured[name] = LastRound(title=title, seeds=seeds, model=last["variant"], round=last["round"])
    return LastRoundsPlan(title=project.datasets[dataset].title, dataset=dataset, measured=measured)


def first_protocol(project: Project, dataset: DatasetName) -> Protocol:
    """The protocol of a data set's main table, for analyses with one protocol for each data set."""
    return next(section.protocol for section in find_table(project, dataset).sections if section.dataset == dataset)


def last_retrieval(project: Project, dataset: DatasetName, variant: VariantName) -> Values:
    """The values of a retrieval's path: by the protocol of the main table, of the first seed's last round."""
    return {"protocol": first_protocol(project, dataset), **project.last_round(dataset, variant)}


def section_datasets(project: Project, table: str) -> list[Values]:
    """The data set of each section with measurements."""
    return [{"dataset": section.dataset} for section in _measured_sections(project, table)]


def image_section_datasets(project: Project, table: str) -> list[Values]:
    """The data set of each section that measures images."""
    return [
        {"dataset": section.dataset} for section in _measured_sections(project, table) if section.protocol != _REGIONS
    ]


def retrievals(project: Project, table: str) -> list[str | Values]:
    """The last round of each measured variant, of each seed."""
    entry = find_table(project, table)
    return [
        retrieval(project, section.dataset, section.protocol, name, seed)
        for section in entry.sections
        for name in _measured_variants(project, entry, section)
        for seed in _seeds(project, name, section)
    ]


def papers(project: Project, table: str) -> list[Values]:
    """The papers whose printed tables a table cites."""
    return [{"paper": paper} for paper in dict.fromkeys(one.paper for one in find_table(project, table).published)]


def plan(project: Project, table: str) -> TablePlan:
    """The plan of a table, without shards and folders, on which no result depends."""
    entry = find_table(project, table)
    sections = [
        plan_section(project, section, _measured_variants(project, entry, section)) for section in entry.sections
    ]
    return TablePlan(
        title=entry.title,
        reference=entry.reference,
        published=entry.published,
        sections=sections,
        latex_intervals=entry.latex_intervals,
    )


def table_job(project: Project, table: str) -> Job:
    """A table."""
    return Job({"plan": plan(project, table).model_dump(mode="json")})


def plan_of_model(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> TablePlan:
    """The plan of a table that measures one trained model, under the protocol of its data set's main table."""
    section = plan_section(
        project, SectionConfig(dataset=dataset, protocol=first_protocol(project, dataset)), [variant]
    )
    one = {"seeds": [seed], "model": variant, "round": round}
    measured = {variant: section.measured[variant].model_copy(update=one)}
    section = section.model_copy(update={"measured": measured})
    return TablePlan(
        title=section.measured[variant].title,
        reference=None,
        published=[],
        sections=[section],
    )


def gains_job(project: Project, table: str) -> Job:
    """The picture of a table's gains."""
    entry, measuring = find_table(project, table), _measured_sections(project, table)
    reference = rows.row_title(project, measuring[0].dataset, VariantName(str(entry.reference)))
    sections = [
        GainsSection(
            title=f"{project.datasets[section.dataset].title}, {section.protocol}",
            dataset=section.dataset,
            protocol=section.protocol,
        )
        for section in measuring
    ]
    plan = GainsPlan(title=f"{entry.title}: gains on {reference}", reference=reference, sections=sections)
    return Job({"plan": plan.model_dump(mode="json")})


def retrievals_of_rounds(project: Project, dataset: DatasetName) -> list[str | Values]:
    """Every round of the variants that learn correspondences, of each seed."""
    return [
        retrieval(project, dataset, first_protocol(project, dataset), name, seed, number)
        for name, entry in _learning_variants(project, dataset).items()
        for number in range(entry.last_round + 1)
        for seed in project.datasets[dataset].seeds
    ]


def accuracies_of_rounds(project: Project, dataset: DatasetName) -> list[Values]:
    """The correspondences of every round of these variants but the first, if phrases have true boxes."""
    if not project.datasets[dataset].phrases_have_boxes:
        return []
    return [
        project.round_correspondences(dataset, name, seed, number)
        for name, entry in _learning_variants(project, dataset).items()
        for number in range(1, entry.last_round + 1)
        for seed in project.datasets[dataset].seeds
    ]


def rounds_job(project: Project, dataset: DatasetName) -> Job:
    """A data set's table of rounds."""
    entries = _learning_variants(project, dataset)
    section = plan_section(project, SectionConfig(dataset=dataset, protocol=first_protocol(project, dataset)), entries)
    plan = RoundsPlan(
        title=f"{project.datasets[dataset].title}: what each round gained",
        section=section,
        rounds=[
            _round_plan(project, dataset, name, number)
            for name, entry in entries.items()
            for number in range(entry.last_round + 1)
        ],
        latex_intervals=find_table(project, dataset).latex_intervals,
    )
    return Job({"plan": plan.model_dump(mode="json")})


def _round_plan(project: Project, dataset: DatasetName, name: VariantName, number: int) -> RoundPlan:
    seed, judged = project.first_seed(dataset), number > 0 and project.datasets[dataset].phrases_have_boxes
    return RoundPlan(
        variant=name,
        number=number,
        model=project.variant_round(dataset, name, seed, number)["variant"],
        correspondences=project.round_correspondences(dataset, name, seed, number)["variant"] if judged else None,
    )


def retrieval(
    project: Project, dataset: DatasetName, protocol: str, name: VariantName, seed: int, number: int | None = None
) -> str | Values:
    """The retrieval of a variant's round, by default the last one; for any other row, its file."""
    for kind, names in (("ensemble", project.config.ensembles()), ("given", project.config.given_rows())):
        if name in names:
            return f"{project.results}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/{kind}.parquet"
    of = (
        project.last_round(dataset, name, seed)
        if number is None
        else project.variant_round(dataset, name, seed, number)
    )
    if protocol == _REGIONS:
        return f"{project.artifact_folder('region_ranking', dataset, of)}.parquet"
    return {"dataset": dataset, "protocol": protocol, **of}


def _has_gains(project: Project, name: str) -> bool:
    entry = find_table(project, name) if name in names(project) else None
    return bool(entry and entry.reference and len(entry.measure) > 1 and _measured_sections(project, name))


def _measured_sections(project: Project, table: str) -> list[SectionConfig]:
    """The sections of a table with measurements."""
    entry = find_table(project, table)
    return [section for section in entry.sections if _measured_variants(project, entry, section)]


def _measured_variants(project: Project, table: Table, section: SectionConfig) -> list[VariantName]:
    """The variants that a section measures; none of phrases without true boxes."""
    unknown = section.protocol == _REGIONS and not project.datasets[section.dataset].phrases_have_boxes
    return [] if unknown else table.measure


def plan_section(project: Project, section: SectionConfig, measured: Iterable[VariantName]) -> SectionPlan:
    """The plan of a section that measures the given variants, ensembles and given rows."""
    return SectionPlan(
        title=project.config.datasets[section.dataset].title,
        dataset=section.dataset,
        protocol=section.protocol,
        sentences=project.config.datasets[section.dataset].sentences,
        published=section.published,
        measured={
            name: rows.measured_variant(project, section.dataset, name, _seeds(project, name, section))
            for name in measured
        },
    )


def _seeds(project: Project, name: VariantName, section: SectionConfig) -> list[int]:
    """The seeds of a variant or an ensemble; a single one without training, as of an ensemble of such alone.

    A given row has one seed for each of its files.
    """
    given = project.config.given_rows().get(name)
    if given:
        return given.dataset_files(section.dataset).seeds
    own = section.seeds or project.datasets[section.dataset].seeds
    ensemble = project.config.ensembles().get(name)
    members = ensemble.members if ensemble else [name]
    return own if any(_has_seeds(project, one, section.dataset) for one in members) else own[:1]


def _has_seeds(project: Project, name: VariantName, dataset: DatasetName) -> bool:
    """True for a variant that is trained, and for a given row with several files."""
    given = project.config.given_rows().get(name)
    return len(given.dataset_files(dataset).seeds) > 1 if given else name not in project.config.untrained_names()


def check_tables(project: Project) -> None:
    """Checks config/tables against the rest of the configuration and config/published, and methods' papers.

    Raises `InputError` that names the path of an unknown data set, variant, paper, printed table or row.
    """
    config = project.config
    files = sorted((project.root / "config/published").glob("*.csv"))
    rows = read_published_rows(files)
    check_names(rows, config.datasets, Protocol.__args__)  # type: ignore[attr-defined]
    for method, entry in config.method_entries().items():
        _refuse_unknown(f"methods.{method}.paper: no paper", filter(None, [entry.paper]), {file.stem for file in files})
    for name, table in config.tables.items():
        _check_measured_rows(f"tables.{name}", table, config)
        _check_sections(project, table, f"tables.{name}")
        published = [section.published for section in table.sections if section.published]
        _refuse_unknown(f"tables.{name}.sections: no published rows of", published, {row.dataset for row in rows})
        for printed in table.published:
            _check_printed_rows(f"tables.{name}.published", printed.paper, printed.table, printed.rows or [], rows)
    _check_titles(config)


def _check_measured_rows(where: str, table: Table, config: Config) -> None:
    rows = [*config.variant_names(), *config.ensembles(), *config.given_rows()]
    _refuse_unknown(f"{where}.measure: no variants, ensembles or given rows", table.measure, rows)
    if table.reference is not None and table.reference not in table.measure:
        raise InputError(
            f"{where}.reference: {table.reference!r} is not measured: set it to one of {table.measure}, or to null to "
            "compare nothing."
        )


def _check_sections(project: Project, table: Table, where: str) -> None:
    _refuse_unknown(
        f"{where}.sections: no data set", [section.dataset for section in table.sections], project.config.datasets
    )
    for section in table.sections:
        if section.protocol == "regions":
            check_phrases(project, section.dataset, table.measure, f"{where}.measure")


def check_phrases(project: Project, dataset: DatasetName, measured: list[VariantName], where: str) -> None:
    """Raises `InputError` for a row without regions and phrases in a section that ranks them.

    Given scores, and the added scores of an ensemble, exist only for whole images and sentences.
    """
    for name in sorted({*project.config.given_rows()} & set(measured)):
        raise InputError(
            f"{where}: methods.{name} is given and has no scores of regions and phrases, which the protocol "
            "regions ranks; remove it."
        )
    for method, entry in project.config.method_entries().items():
        for name in sorted({method, *entry.variants, *entry.ensembles} & set(measured)):
            if name in entry.ensembles or "phrases" not in project.variant(dataset, name).yields:
                raise InputError(
                    f"{where}: {name} of methods.{method} yields no phrases on {dataset}, which the protocol "
                    "regions ranks; measure variants that yield some."
                )


def _check_printed_rows(where: str, paper: str, number: str, methods: list[str], rows: Iterable[PublishedRow]) -> None:
    tables: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        tables.setdefault(row.paper, {}).setdefault(row.table, []).append(row.method)
    _refuse_unknown(f"{where}: no paper", [paper], tables)
    _refuse_unknown(f"{where}: {paper} has no table", [number], tables[paper])
    _refuse_unknown(f"{where}: Table {number} of {paper} has no rows", methods, tables[paper][number])


def _check_titles(config: Config) -> None:
    """Raises `InputError` for two tables with the same title, which a reader could confuse."""
    titles = [table.title for table in config.tables.values()]
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        raise InputError(f"tables: more than one table has the title {twice}; rename all but one.")


def _refuse_unknown(what: str, names: Iterable[Any], known: Iterable[str]) -> None:
    there = {*known}
    if unknown := sorted({*names} - there):
        raise InputError(f"{what} {unknown}{list_known_names(unknown[0], there)}")

"""Tables of results in the plan: their sections and rows, and the artifacts of these."""

from collections.abc import Callable, Iterable
from typing import Any

from densevse.config.config import Config
from densevse.config.methods import MethodConfig
from densevse.config.tables import Protocol, SectionConfig, Table
from densevse.config.values import DatasetName, VariantName
from densevse.dag.project import Project, Stage
from densevse.dag.rows import RowStage
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


class TableStage(Stage):
    """Tables of results and of rounds."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.rows = RowStage(project)

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The tables of a data set's results: its main table and, if it has them, those of its rounds and regions."""
        names: list[str] = [dataset]
        names += [f"{dataset}_rounds"] if self.learning_variants(dataset) else []
        names += [f"{dataset}_regions"] if f"{dataset}_regions" in self.config.tables else []
        gains = [f"{self.results}/figures/{name}_gains.svg" for name in names if self._has_gains(name)]
        return [*(f"{self.results}/tables/{name}.md" for name in names), *gains]

    def is_page(self, file: str) -> bool:
        """True for a table as Markdown."""
        return file.startswith(f"{self.results}/tables/") and file.endswith(".md")

    def names(self) -> list[str]:
        """Every table of config/tables, and a main table for each data set without one there."""
        return list(dict.fromkeys([*self.config.tables, *self.config.datasets]))

    def check_names(self, makers: Callable[[str], list[str]]) -> None:
        """Raises `InputError` for a user's table with the name of one that another rule makes.

        `makers` returns the rules that make a path. The project's own names are not checked here, as matching them with
        the outputs of all rules takes a sixth of a dry run; a test does it.
        """
        for name in self.names():
            if (self.project.root / f"config/tables/{name}.yaml").is_file():
                continue
            kind, path = "tables" if name in self.config.tables else "datasets", f"{self.results}/tables/{name}.md"
            others = [rule for rule in makers(path) if rule != "table"]
            if others:
                raise InputError(f"{kind}.{name}: the rule {others[0]} makes {path} too; give it another name.")

    def gain_tables(self) -> list[str]:
        """The tables with a reference row."""
        return [name for name in self.names() if self._has_gains(name)]

    def table(self, name: str) -> Table:
        """A table's entry.

        The default main table of a data set, without one in config/tables, measures every trained method by its own
        name.
        """
        if name in self.config.tables:
            return self.config.tables[name]
        dataset = DatasetName(name)
        trained = [method for method, entry in self.config.method_entries().items() if not entry.is_untrained]
        return Table(
            title=self.config.datasets[dataset].title, sections=[SectionConfig(dataset=dataset)], measure=trained
        )

    def variants(self, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
        """The settings on a data set of each variant in its main table."""
        known = set(self.config.variant_names())
        measured = self.table(dataset).measure
        return {name: self.project.variant(dataset, name) for name in measured if name in known}

    def learning_variants(self, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
        """The variants in a data set's main table that learn correspondences."""
        return {name: entry for name, entry in self.variants(dataset).items() if entry.last_round}

    def last_rounds(self, dataset: DatasetName, variants: Iterable[VariantName]) -> list[Values]:
        """The last round of each variant, of each seed."""
        seeds = self.dataset(dataset).seeds
        return [self.last_round(dataset, name, seed) for name in variants for seed in seeds]

    def plan_of_last_rounds(self, dataset: DatasetName, variants: Iterable[VariantName]) -> LastRoundsPlan:
        """The plan of a table of the last rounds of variants."""
        measured: dict[str, LastRound] = {}
        for name in variants:
            last, seeds = self.last_round(dataset, name), self.dataset(dataset).seeds
            title = self.project.variant(dataset, name).title
            measured[name] = LastRound(title=title, seeds=seeds, model=last["variant"], round=last["round"])
        return LastRoundsPlan(title=self.title(dataset), dataset=dataset, measured=measured)

    def first_protocol(self, dataset: DatasetName) -> Protocol:
        """The protocol of a data set's main table, for analyses with one protocol for each data set."""
        return next(section.protocol for section in self.table(dataset).sections if section.dataset == dataset)

    def section_datasets(self, table: str) -> list[Values]:
        """The data set of each section with measurements."""
        return [{"dataset": section.dataset} for section in self._measured_sections(table)]

    def image_section_datasets(self, table: str) -> list[Values]:
        """The data set of each section that measures images."""
        return [
            {"dataset": section.dataset} for section in self._measured_sections(table) if section.protocol != _REGIONS
        ]

    def retrievals(self, table: str) -> list[str | Values]:
        """The last round of each measured variant, of each seed."""
        entry = self.table(table)
        return [
            self.retrieval(section.dataset, section.protocol, name, seed)
            for section in entry.sections
            for name in self._measured_variants(entry, section)
            for seed in self._seeds(name, section)
        ]

    def papers(self, table: str) -> list[Values]:
        """The papers whose printed tables a table cites."""
        return [{"paper": paper} for paper in dict.fromkeys(one.paper for one in self.table(table).published)]

    def plan(self, table: str) -> TablePlan:
        """The plan of a table, without shards and folders, on which no result depends."""
        entry = self.table(table)
        sections = [self.section(section, self._measured_variants(entry, section)) for section in entry.sections]
        return TablePlan(
            title=entry.title,
            reference=entry.reference,
            published=entry.published,
            sections=sections,
            latex_intervals=entry.latex_intervals,
        )

    def table_job(self, table: str) -> Job:
        """A table."""
        return Job({"plan": self.plan(table).model_dump(mode="json")})

    def plan_of_model(self, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> TablePlan:
        """The plan of a table that measures one trained model, under the protocol of its data set's main table."""
        section = self.section(SectionConfig(dataset=dataset, protocol=self.first_protocol(dataset)), [variant])
        one = {"seeds": [seed], "model": variant, "round": round}
        measured = {variant: section.measured[variant].model_copy(update=one)}
        section = section.model_copy(update={"measured": measured})
        return TablePlan(
            title=section.measured[variant].title,
            reference=None,
            published=[],
            sections=[section],
        )

    def gains_job(self, table: str) -> Job:
        """The picture of a table's gains."""
        entry, measuring = self.table(table), self._measured_sections(table)
        reference = self.rows.row_title(measuring[0].dataset, VariantName(str(entry.reference)))
        sections = [
            GainsSection(
                title=f"{self.title(section.dataset)}, {section.protocol}",
                dataset=section.dataset,
                protocol=section.protocol,
            )
            for section in measuring
        ]
        plan = GainsPlan(title=f"{entry.title}: gains on {reference}", reference=reference, sections=sections)
        return Job({"plan": plan.model_dump(mode="json")})

    def retrievals_of_rounds(self, dataset: DatasetName) -> list[str | Values]:
        """Every round of the variants that learn correspondences, of each seed."""
        return [
            self.retrieval(dataset, self.first_protocol(dataset), name, seed, number)
            for name, entry in self.learning_variants(dataset).items()
            for number in range(entry.last_round + 1)
            for seed in self.dataset(dataset).seeds
        ]

    def accuracies_of_rounds(self, dataset: DatasetName) -> list[Values]:
        """The correspondences of every round of these variants but the first, if phrases have true boxes."""
        if not self.dataset(dataset).phrases_have_boxes:
            return []
        return [
            self.round_correspondences(dataset, name, seed, number)
            for name, entry in self.learning_variants(dataset).items()
            for number in range(1, entry.last_round + 1)
            for seed in self.dataset(dataset).seeds
        ]

    def rounds_job(self, dataset: DatasetName) -> Job:
        """A data set's table of rounds."""
        entries = self.learning_variants(dataset)
        section = self.section(SectionConfig(dataset=dataset, protocol=self.first_protocol(dataset)), entries)
        plan = RoundsPlan(
            title=f"{self.title(dataset)}: what each round gained",
            section=section,
            rounds=[
                self._round_plan(dataset, name, number)
                for name, entry in entries.items()
                for number in range(entry.last_round + 1)
            ],
            latex_intervals=self.table(dataset).latex_intervals,
        )
        return Job({"plan": plan.model_dump(mode="json")})

    def _round_plan(self, dataset: DatasetName, name: VariantName, number: int) -> RoundPlan:
        seed, judged = self.first_seed(dataset), number > 0 and self.dataset(dataset).phrases_have_boxes
        return RoundPlan(
            variant=name,
            number=number,
            model=self.variant_round(dataset, name, seed, number)["variant"],
            correspondences=self.round_correspondences(dataset, name, seed, number)["variant"] if judged else None,
        )

    def network_of_regions(self, dataset: DatasetName, variant: VariantName) -> Values:
        """The network of the regions that a variant reads."""
        own = self.variant(dataset, variant).networks
        return {"network": self.view_network(variant, dataset, "regions", own)}

    def retrieval(
        self, dataset: DatasetName, protocol: str, name: VariantName, seed: int, number: int | None = None
    ) -> str | Values:
        """The retrieval of a variant's round, by default the last one; for any other row, its file."""
        for kind, names in (("ensemble", self.config.ensembles()), ("given", self.config.given_rows())):
            if name in names:
                return f"{self.results}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/{kind}.parquet"
        of = self.last_round(dataset, name, seed) if number is None else self.variant_round(dataset, name, seed, number)
        if protocol == _REGIONS:
            return f"{self.artifact_folder('region_ranking', dataset, of)}.parquet"
        return {"dataset": dataset, "protocol": protocol, **of}

    def _has_gains(self, name: str) -> bool:
        entry = self.table(name) if name in self.names() else None
        return bool(entry and entry.reference and len(entry.measure) > 1 and self._measured_sections(name))

    def _measured_sections(self, table: str) -> list[SectionConfig]:
        """The sections of a table with measurements."""
        entry = self.table(table)
        return [section for section in entry.sections if self._measured_variants(entry, section)]

    def _measured_variants(self, table: Table, section: SectionConfig) -> list[VariantName]:
        """The variants that a section measures; none of phrases without true boxes."""
        unknown = section.protocol == _REGIONS and not self.dataset(section.dataset).phrases_have_boxes
        return [] if unknown else table.measure

    def section(self, section: SectionConfig, measured: Iterable[VariantName]) -> SectionPlan:
        """The plan of a section that measures the given variants, ensembles and given rows."""
        return SectionPlan(
            title=self.config.datasets[section.dataset].title,
            dataset=section.dataset,
            protocol=section.protocol,
            sentences=self.config.datasets[section.dataset].sentences,
            published=section.published,
            measured={
                name: self.rows.measured_variant(section.dataset, name, self._seeds(name, section)) for name in measured
            },
        )

    def _seeds(self, name: VariantName, section: SectionConfig) -> list[int]:
        """The seeds of a variant or an ensemble; a single one without training, as of an ensemble of such alone.

        A given row has one seed for each of its files.
        """
        given = self.config.given_rows().get(name)
        if given:
            return given.dataset_files(section.dataset).seeds
        own = section.seeds or self.config.datasets[section.dataset].seeds
        ensemble = self.config.ensembles().get(name)
        members = ensemble.members if ensemble else [name]
        return own if any(self._has_seeds(one, section.dataset) for one in members) else own[:1]

    def _has_seeds(self, name: VariantName, dataset: DatasetName) -> bool:
        """True for a variant that is trained, and for a given row with several files."""
        given = self.config.given_rows().get(name)
        return len(given.dataset_files(dataset).seeds) > 1 if given else name not in self.config.untrained_names()


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
        _check_sections(f"tables.{name}", table, project)
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


def _check_sections(where: str, table: Table, project: Project) -> None:
    _refuse_unknown(
        f"{where}.sections: no data set", [section.dataset for section in table.sections], project.config.datasets
    )
    for section in table.sections:
        if section.protocol == "regions":
            check_phrases(f"{where}.measure", table.measure, section.dataset, project)


def check_phrases(where: str, measured: list[VariantName], dataset: DatasetName, project: Project) -> None:
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

"""Tables of results in the plan: their sections and rows, and the artifacts of these."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.config.config import Config
from densevse.config.datasets import Dataset
from densevse.config.declared.structures import STRUCTURES
from densevse.config.declared.views import VIEWS, described_by
from densevse.config.given import GivenFiles
from densevse.config.methods import MethodConfig
from densevse.config.networks import NetworkConfig
from densevse.config.proposers import Clustered
from densevse.config.tables import Protocol, SectionConfig, Table
from densevse.dag.features import FeatureStage
from densevse.dag.paths import Values
from densevse.dag.project import Project, Stage
from densevse.dag.training import TrainingStage
from densevse.runtime.errors import InputError
from densevse.runtime.nested import differences
from densevse.tables.plan import (
    Configured,
    Difference,
    GainsPlan,
    GainsSection,
    MadeWith,
    MeasuredVariant,
    RoundPlan,
    RoundsPlan,
    SectionPlan,
    TablePlan,
    TrainedWith,
    Weights,
)
from densevse.tables.published import PublishedRow, check_names, read_published

_REGIONS = "regions"
COMPARED_KINDS = ("network", "concept_network", "proposer")
"""Kinds of entries whose configuration a table compares with the lineage of artifacts."""


class TableStage(Stage):
    """Tables of results and of rounds."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The tables of a data set's results: its main table and, if it has them, those of its rounds and regions."""
        names = [dataset]
        names += [f"{dataset}_rounds"] if self.with_rounds(dataset) else []
        names += [f"{dataset}_regions"] if f"{dataset}_regions" in self.config.tables else []
        gains = [f"{self.results}/figures/{name}_gains.svg" for name in names if self._has_gains(name)]
        return [*(f"{self.results}/tables/{name}.md" for name in names), *gains]

    def names(self) -> list[str]:
        """Every table of config/tables, and a main table for each data set without one there."""
        return list({**self.config.tables, **self.config.datasets})

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

    def with_gains(self) -> list[str]:
        """The tables with a reference row."""
        return [name for name in self.names() if self._has_gains(name)]

    def table(self, name: str) -> Table:
        """A table's entry.

        The default main table of a data set, without one in config/tables, measures every trained method by its own
        name.
        """
        if name in self.config.tables:
            return self.config.tables[name]
        title = self.config.datasets[name].title
        trained = [method for method, entry in self.config.trained().items() if not entry.untrained]
        return Table(title=title, sections=[SectionConfig(dataset=name)], measure=trained)

    def variants(self, dataset: str) -> dict[str, MethodConfig]:
        """The settings on a data set of each variant in its main table."""
        known = set(self.config.variant_names())
        measured = self.table(dataset).measure
        return {name: self.project.variant(name, dataset) for name in measured if name in known}

    def with_rounds(self, dataset: str) -> dict[str, MethodConfig]:
        """The variants in a data set's main table that learn correspondences."""
        return {name: entry for name, entry in self.variants(dataset).items() if entry.last_round}

    def with_phrases(self, dataset: str) -> dict[str, MethodConfig]:
        """The variants in a data set's main table that represent phrases and regions."""
        return {name: entry for name, entry in self.variants(dataset).items() if "phrases" in entry.yields}

    def with_concepts(self, dataset: str) -> dict[str, MethodConfig]:
        """The variants in a data set's main table that read the scores of a concept network."""
        variants = self.variants(dataset).items()
        return {name: entry for name, entry in variants if self._concept_networks(self._read([entry], dataset))}

    def with_saliency(self, dataset: str) -> dict[str, MethodConfig]:
        """The variants in a data set's main table that report their attention."""
        return {name: entry for name, entry in self.variants(dataset).items() if "saliency" in entry.yields}

    def phrases_have_boxes(self, dataset: str) -> bool:
        """True if a data set's phrases have true boxes."""
        return self.config.datasets[dataset].phrases_have_boxes

    def first_protocol(self, dataset: str) -> Protocol:
        """The protocol of a data set's main table, for analyses with one protocol for each data set."""
        return next(section.protocol for section in self.table(dataset).sections if section.dataset == dataset)

    def measuring(self, table: str) -> list[Values]:
        """The data set of each section with measurements."""
        return [{"dataset": section.dataset} for section in self._measuring(table)]

    def measuring_images(self, table: str) -> list[Values]:
        """The data set of each section that measures images."""
        return [{"dataset": section.dataset} for section in self._measuring(table) if section.protocol != _REGIONS]

    def retrievals(self, table: str) -> list[str | Values]:
        """The last round of each measured variant, of each seed."""
        entry = self.table(table)
        return [
            self.retrieval(section.dataset, section.protocol, name, seed)
            for section in entry.sections
            for name in self._measured(entry, section)
            for seed in self._seeds(name, section)
        ]

    def papers(self, table: str) -> list[Values]:
        """The papers whose printed tables a table cites."""
        return [{"paper": paper} for paper in dict.fromkeys(one.paper for one in self.table(table).published)]

    def plan(self, table: str) -> TablePlan:
        """The plan of a table, without shards and folders, on which no result depends."""
        entry = self.table(table)
        sections = [self._section(section, self._measured(entry, section)) for section in entry.sections]
        return TablePlan(
            title=entry.title,
            reference=entry.reference,
            published=entry.published,
            sections=sections,
            configured=self._configured(sections),
            latex_intervals=entry.latex_intervals,
        )

    def plan_of_model(self, dataset: str, variant: str, seed: int, round: int) -> TablePlan:
        """The plan of a table that measures one trained model, under the protocol of its data set's main table."""
        section = self._section(SectionConfig(dataset=dataset, protocol=self.first_protocol(dataset)), [variant])
        one = {"seeds": [seed], "model": variant, "round": round}
        measured = {variant: section.measured[variant].model_copy(update=one)}
        section = section.model_copy(update={"measured": measured})
        title, configured = section.measured[variant].title, self._configured([section])
        return TablePlan(title=title, reference=None, published=[], sections=[section], configured=configured)

    def plan_of_gains(self, table: str) -> GainsPlan:
        """The plan of the picture of a table's gains."""
        entry, measuring = self.table(table), self._measuring(table)
        reference = self._title_of(str(entry.reference), measuring[0].dataset)
        sections = [
            GainsSection(
                title=f"{self.title(section.dataset)}, {section.protocol}",
                dataset=section.dataset,
                protocol=section.protocol,
            )
            for section in measuring
        ]
        return GainsPlan(title=f"{entry.title}: gains on {reference}", reference=reference, sections=sections)

    def retrievals_of_rounds(self, dataset: str) -> list[str | Values]:
        """Every round of the variants that learn correspondences, of each seed."""
        return [
            self.retrieval(dataset, self.first_protocol(dataset), name, seed, number)
            for name, entry in self.with_rounds(dataset).items()
            for number in range(entry.last_round + 1)
            for seed in self.dataset(dataset).seeds
        ]

    def accuracies_of_rounds(self, dataset: str) -> list[Values]:
        """The correspondences of each of these rounds, if phrases have true boxes."""
        if not self.phrases_have_boxes(dataset):
            return []
        return [
            self.correspondences_of(dataset, name, seed, number)
            for name, entry in self.with_rounds(dataset).items()
            for number in range(1, entry.last_round + 1)
            for seed in self.dataset(dataset).seeds
        ]

    def plan_of_rounds(self, dataset: str) -> RoundsPlan:
        """The plan of a data set's table of rounds."""
        entries = self.with_rounds(dataset)
        section = self._section(SectionConfig(dataset=dataset, protocol=self.first_protocol(dataset)), entries)
        return RoundsPlan(
            title=f"{self.title(dataset)}: what each round gained",
            section=section,
            rounds=[
                self._round(dataset, name, number)
                for name, entry in entries.items()
                for number in range(entry.last_round + 1)
            ],
            configured=self._configured([section]),
            latex_intervals=self.table(dataset).latex_intervals,
        )

    def _round(self, dataset: str, name: str, number: int) -> RoundPlan:
        seed, judged = self.first_seed(dataset), number > 0 and self.phrases_have_boxes(dataset)
        return RoundPlan(
            variant=name,
            number=number,
            model=self.round_of(dataset, name, seed, number)["variant"],
            correspondences=self.correspondences_of(dataset, name, seed, number)["variant"] if judged else None,
        )

    def network_of_regions(self, dataset: str, variant: str) -> Values:
        """The network of the regions that a variant reads."""
        return {"network": {**self.dataset(dataset).networks, **self.variant(dataset, variant).networks}["regions"]}

    def retrieval(self, dataset: str, protocol: str, name: str, seed: int, number: int | None = None) -> str | Values:
        """The retrieval of a variant's round, by default the last one; for any other row, its file."""
        for kind, names in (("ensemble", self.config.ensembles()), ("given", self.config.given())):
            if name in names:
                return f"{self.results}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/{kind}.parquet"
        of = self.last_round(dataset, name, seed) if number is None else self.round_of(dataset, name, seed, number)
        if protocol == _REGIONS:
            return f"{self.folder_of('region_ranking', dataset, of)}.parquet"
        return {"dataset": dataset, "protocol": protocol, **of}

    def _has_gains(self, name: str) -> bool:
        entry = self.table(name) if name in self.names() else None
        return bool(entry and entry.reference and len(entry.measure) > 1 and self._measuring(name))

    def _measuring(self, table: str) -> list[SectionConfig]:
        """The sections of a table with measurements."""
        entry = self.table(table)
        return [section for section in entry.sections if self._measured(entry, section)]

    def _measured(self, table: Table, section: SectionConfig) -> list[str]:
        """The variants that a section measures; none of phrases without true boxes."""
        unknown = section.protocol == _REGIONS and not self.phrases_have_boxes(section.dataset)
        return [] if unknown else table.measure

    def _section(self, section: SectionConfig, measured: Iterable[str]) -> SectionPlan:
        return SectionPlan(
            title=self.config.datasets[section.dataset].title,
            dataset=section.dataset,
            protocol=section.protocol,
            sentences=self.config.datasets[section.dataset].sentences,
            published=section.published,
            measured={
                name: self._measured_variant(name, section.dataset, self._seeds(name, section)) for name in measured
            },
        )

    def _seeds(self, name: str, section: SectionConfig) -> list[int]:
        """The seeds of a variant or an ensemble; a single one without training.

        A given row has one seed for each of its files.
        """
        given = self.config.given().get(name)
        if given:
            return given.on(section.dataset).seeds
        own = section.seeds or self.config.datasets[section.dataset].seeds
        return own[:1] if name in self.config.untrained_names() else own

    def _measured_variant(self, name: str, dataset: str, seeds: list[int]) -> MeasuredVariant:
        """A variant after its last round, an ensemble of such, or a given row."""
        if name in self.config.given():
            return self._given_row(name, dataset, seeds)
        ensemble = self.config.ensembles().get(name)
        last: Values = {"variant": name, "round": None} if ensemble else self.last_round(dataset, name)
        return MeasuredVariant(
            title=self._title_of(name, dataset),
            seeds=seeds,
            model=last["variant"],
            round=last["round"],
            made_with=self._made_with(name, dataset),
        )

    def _title_of(self, name: str, dataset: str) -> str:
        """The title of a variant on a data set, of an ensemble, or of a given row."""
        if name in self.config.given():
            return self.config.given()[name].title or name
        ensemble = self.config.ensembles().get(name)
        return ensemble.title if ensemble else self.project.variant(name, dataset).title

    def _given_row(self, name: str, dataset: str, seeds: list[int]) -> MeasuredVariant:
        entry = self.config.given()[name]
        return MeasuredVariant(
            title=self._title_of(name, dataset),
            seeds=seeds,
            model=name,
            round=None,
            made_with=MadeWith(given=_said_of(entry.on(dataset)), replaced=self._replaced(dataset, {})),
        )

    def _made_with(self, name: str, dataset: str) -> MadeWith:
        """The settings that decide a variant's metrics; for an ensemble, those of its members."""
        entry, ensemble = self.config.datasets[dataset], self.config.ensembles().get(name)
        members = ensemble.members if ensemble else [name]
        found = [self.project.variant(member, dataset) for member in members]
        writers = [self.project.generator(one.generator, dataset) for one in found if one.generator]
        read = self._read(found, dataset)
        concepts = self._concept_networks(read)
        made_of = {name: FeatureStage(self.project).backbone(name, dataset) for name in concepts}
        networks = {view: made_of.get(name, name) for view, name in read.items()}
        own = [view for view, name in networks.items() if name not in entry.features]
        proposer = entry.proposer if any(VIEWS[view].of_proposals for view in own) else None
        given = {name: entry.features[name] for name in networks.values() if name in entry.features}
        beside = {features.whole_by for features in given.values() if features.whole_by in self.config.networks}
        structures = {name for one in found for name in one.sentences} | {n for one in writers for n in one.sentences}
        parser = entry.parser if concepts or any(STRUCTURES[name].parsed for name in structures) else None
        vectors = entry.word_vectors if any(one.word_vectors for one in found) else None
        return MadeWith(
            networks={str(view): _described(entry, view, network) for view, network in networks.items()},
            concepts=", ".join(sorted(concepts)) or None,
            proposer=proposer,
            parser=parser,
            word_vectors=vectors,
            used={
                "network": sorted({*networks.values(), *concepts, *beside}),
                "concept_network": sorted(concepts),
                "proposer": sorted(self._proposers(proposer, concepts)),
                "parser": [self.config.parsers[parser].kind] if parser else [],
                "vectors": [vectors] if vectors else [],
                "minimum_word_count": [str(entry.minimum_word_count)],
            },
            replaced=self._replaced(dataset, read),
            trained=None if ensemble else self._trained(name, dataset),
            changed={} if ensemble else self._changed(name, dataset),
        )

    def _read(self, variants: Iterable[MethodConfig], dataset: str) -> dict[str, str]:
        """The network of each view of a variant, and of the generators whose sentences it reads."""
        entry, read = self.config.datasets[dataset], dict[str, str]()
        for one in variants:
            networks = {**entry.networks, **one.networks}
            views = [described_by(view) for view in one.views if VIEWS[view].made_by != "generator"]
            read |= {view: networks[view] for view in views}
            writer = self.project.generator(one.generator, dataset) if one.generator else None
            if writer and writer.view:
                read[writer.view] = entry.networks[writer.view]
            elif writer and writer.joint_embedding:
                read |= self._read([self.project.variant(writer.joint_embedding, dataset)], dataset)
        return read

    def _concept_networks(self, read: Mapping[str, str]) -> set[str]:
        """Those that give the scores of views that are `read`; other scores are given."""
        return {name for view, name in read.items() if _is_of_concepts(view) and name in self.config.concept_networks}

    def _trained(self, name: str, dataset: str) -> TrainedWith:
        """The training settings of a variant on a data set, without the seed."""
        training, trainer = TrainingStage(self.project), self.project.trainer_of_round_0(name, dataset)
        rounds = list(enumerate([trainer, *[name] * self.project.variant(name, dataset).last_round]))
        return TrainedWith(
            method=training.method(dataset, trainer),
            parameters=[training.parameters(dataset, one) for _, one in rounds],
            sentences=training.sentences(dataset, trainer),
            training=training.training(dataset, trainer),
            phases=[training.phases(dataset, one, number) for number, one in rounds],
        )

    def _changed(self, name: str, dataset: str) -> dict[str, Difference]:
        """The settings of a variant that a data set changes, by path."""
        own, here = (self.project.variant(name, where) for where in (None, dataset))
        return _differences(*(entry.model_dump(mode="json", exclude={"title"}) for entry in (own, here)))

    def _replaced(self, dataset: str, read: Mapping[str, str]) -> dict[str, Difference]:
        """The inputs of a variant that differ from config/datasets, whose metrics are compared with the papers'.

        These are the reading of the data set, and the networks of the views that the variant reads (`read`), by path;
        nothing for a user's own data set.
        """
        packaged, here = self.project.packaged_dataset(dataset), self.config.datasets[dataset]
        if packaged is None:
            return {}
        fields = {"reader", "options", "only_available", "sentences", "networks"}
        found = _differences(*(entry.model_dump(mode="json", include=fields) for entry in (packaged, here)))
        unread = {f"networks.{view}" for view, name in here.networks.items() if read.get(view) != name}
        return {path: values for path, values in found.items() if path not in unread}

    def _configured(self, sections: list[SectionPlan]) -> Configured:
        """The configuration that the sections use, with names of files without folders."""
        used = [entry.made_with.used for section in sections for entry in section.measured.values()]
        named = {kind: sorted({name for one in used for name in one.get(kind, [])}) for kind in COMPARED_KINDS}
        networks = {name: self.config.networks[name] for name in named["network"] if name in self.config.networks}
        concepts = {name: self.config.concept_networks[name] for name in named["concept_network"]}
        proposers = {name: self.config.proposers[name] for name in named["proposer"]}
        return Configured(
            networks={name: _weights(network) for name, network in networks.items()},
            settings={
                "network": {name: self._network(network) for name, network in networks.items()},
                "concept_network": {
                    name: entry.model_dump(mode="json", include={"train", "learns_from", "seed"})
                    for name, entry in concepts.items()
                },
                "proposer": {name: self.read_by("propose.py", entry) for name, entry in proposers.items()},
            },
        )

    def _proposers(self, proposer: str | None, concepts: Iterable[str]) -> set[str]:
        """A data set's proposer, those of concept networks, and those from which these are clustered."""
        named = {self.config.concept_networks[name].proposer for name in concepts} | ({proposer} if proposer else set())
        options = {name: self.config.proposers[name].options for name in named}
        return {*options, *(found.of for found in options.values() if isinstance(found, Clustered))}

    def _network(self, network: NetworkConfig) -> dict[str, Any]:
        """The settings that decide a network's features, as their lineage has them."""
        weights = _weights(network)
        origin = {"file": weights.file} if weights.file else None
        return {
            **self.read_by("extract_regions.py", network),
            "weights": origin,
            "local": weights.local,
            "trained_on": weights.trained_on,
        }


def _said_of(given: GivenFiles) -> str:
    """A given row's files without folders, and its options that are set."""
    files = [given.files(seed) for seed in given.seeds]
    parts = [f"{key} {', '.join(dict.fromkeys(Path(one[key]).name for one in files))}" for key in files[0]]
    options = [f"{key} {value}" for key, value in given.layout.model_dump(exclude_defaults=True).items()]
    return "; ".join([*parts, *options])


def _described(dataset: Dataset, view: str, network: str) -> str:
    """A network by its name; given features with the files that they were read from."""
    given = dataset.features.get(network)
    if given is None:
        return network
    read = view if view in given.views else "regions"  # that a concept network reads
    return f"{network} (given: {given.described(read)})"


def _weights(network: NetworkConfig) -> Weights:
    return Weights(
        architecture=network.architecture,
        precision=network.precision,
        trained_on=None if network.weights else network.trained_on,
        local=Path(network.local).name if network.local else None,
        file=network.weights.file if network.weights else None,
    )


def _differences(own: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Difference]:
    """The differences of nested mappings, by path."""
    return {path: Difference(own=one, here=other) for path, (one, other) in differences(own, here).items()}


def check_tables(project: Project) -> None:
    """Checks config/tables against the rest of the configuration and config/published, and methods' papers.

    Raises `InputError` that names the path of an unknown data set, variant, paper, printed table or row.
    """
    config = project.config
    rows = read_published(sorted((project.root / "config/published").glob("*.csv")))
    check_names(rows, config.datasets, Protocol.__args__)  # type: ignore[attr-defined]
    for name, method in config.trained().items():
        _known(f"methods.{name}.paper: no paper", [method.paper], {row.paper for row in rows})
    for name, table in config.tables.items():
        _check_measured(f"tables.{name}", table, config)
        _check_sections(f"tables.{name}", table, project)
        published = [section.published for section in table.sections if section.published]
        _known(f"tables.{name}.sections: no published rows of", published, {row.dataset for row in rows})
        for printed in table.published:
            _check_printed(f"tables.{name}.published", printed.paper, printed.table, printed.rows or [], rows)
    _check_titles(config)


def _check_measured(where: str, table: Table, config: Config) -> None:
    rows = [*config.variant_names(), *config.ensembles(), *config.given()]
    _known(f"{where}.measure: no variants, ensembles or given rows", table.measure, rows)
    if table.reference is not None and table.reference not in table.measure:
        raise InputError(
            f"{where}.reference: {table.reference!r} is not measured: set it to one of {table.measure}, or to null to "
            "compare nothing."
        )


def _check_sections(where: str, table: Table, project: Project) -> None:
    _known(f"{where}.sections: no data set", [section.dataset for section in table.sections], project.config.datasets)
    for section in table.sections:
        if section.protocol == _REGIONS:
            check_phrases(f"{where}.measure", table.measure, section.dataset, project)


def check_phrases(where: str, measured: list[str], dataset: str, project: Project) -> None:
    """Raises `InputError` for a row without regions and phrases in a section that ranks them.

    Given scores, and the added scores of an ensemble, exist only for whole images and sentences.
    """
    for name in sorted({*project.config.given()} & set(measured)):
        raise InputError(
            f"{where}: methods.{name} is given and has no scores of regions and phrases, which the protocol "
            f"{_REGIONS} ranks; remove it."
        )
    for method, entry in project.config.trained().items():
        for name in sorted({method, *entry.variants, *entry.ensembles} & set(measured)):
            if name in entry.ensembles or "phrases" not in project.variant(name, dataset).yields:
                raise InputError(
                    f"{where}: {name} of methods.{method} yields no phrases on {dataset}, which the protocol "
                    f"{_REGIONS} ranks; measure variants that yield some."
                )


def _check_printed(where: str, paper: str, number: str, methods: list[str], rows: Iterable[PublishedRow]) -> None:
    tables: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        tables.setdefault(row.paper, {}).setdefault(row.table, []).append(row.method)
    _known(f"{where}: no paper", [paper], tables)
    _known(f"{where}: {paper} has no table", [number], tables[paper])
    _known(f"{where}: Table {number} of {paper} has no rows", methods, tables[paper][number])


def _check_titles(config: Config) -> None:
    """Raises `InputError` for two tables with the same title, which a reader could confuse."""
    titles = [table.title for table in config.tables.values()]
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        raise InputError(f"tables: more than one table has the title {twice}; rename all but one.")


def _known(what: str, names: Iterable[Any], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(f"{what} {unknown}; known: {sorted(set(known))}")


def _is_of_concepts(view: str) -> bool:
    return VIEWS[view].made_by == "concept_network"

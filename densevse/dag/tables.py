"""Tables of results: which sections and rows they have, and from which artifacts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from densevse.config.config import Config
from densevse.config.methods import Method
from densevse.config.networks import CONCEPTS, WRITTEN, Network, View, described_by
from densevse.config.proposers import Clustered
from densevse.config.tables import Protocol, Section, Table
from densevse.dag.datasets import Datasets
from densevse.dag.features import Features
from densevse.dag.project import Project, Stage, Wildcards
from densevse.dag.training import Training
from densevse.runtime.errors import InputError
from densevse.tables.published import PublishedRow, check_names, read_published

REGIONS = "regions"


class Tables(Stage):
    """Tables of results and of rounds."""

    def of_dataset(self, dataset: str) -> list[str]:
        """What shows a data set's results: its main table, and those of its rounds and regions, where it has such."""
        names = [dataset]
        names += [f"{dataset}_rounds"] if self.with_rounds(dataset) else []
        names += [f"{dataset}_regions"] if f"{dataset}_regions" in self.config.tables else []
        names += [f"concepts_{dataset}"] if self.with_concepts(dataset) else []
        return [f"{self.results}/tables/{name}.md" for name in names]

    def names(self) -> list[str]:
        """Every table of config/tables, and a main table for each data set that has none there."""
        return list({**self.config.tables, **self.config.datasets})

    def check_names(self, makers: Callable[[str], list[str]]) -> None:
        """Raise `InputError` for a table with the name of one that another rule makes; `makers` of a path are rules."""
        for name in self.names():
            kind, path = "tables" if name in self.config.tables else "datasets", f"{self.results}/tables/{name}.md"
            others = [rule for rule in makers(path) if rule != "table"]
            if others:
                raise InputError(f"{kind}.{name}: the rule {others[0]} makes {path} too; give it another name.")

    def table(self, name: str) -> Table:
        """A table's entry. A data set's own, where config/tables has none, measures every method by its own name."""
        if name in self.config.tables:
            return self.config.tables[name]
        title = self.config.datasets[name].title
        return Table(title=title, sections=[Section(dataset=name)], measure=list(self.config.methods))

    def variants(self, dataset: str) -> dict[str, Method]:
        """Variant -> its settings on a data set, for those in its main table."""
        known = set(self.config.variant_names())
        measured = self.table(dataset).measure
        return {name: self.project.variant(name, dataset) for name in measured if name in known}

    def with_rounds(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's main table that learn correspondences."""
        return {name: entry for name, entry in self.variants(dataset).items() if entry.last_round}

    def with_phrases(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's main table that represent phrases and regions."""
        return {name: entry for name, entry in self.variants(dataset).items() if "phrases" in entry.yields}

    def with_concepts(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's main table that read the scores of concepts."""
        return {name: entry for name, entry in self.variants(dataset).items() if CONCEPTS & set(entry.views)}

    def with_saliency(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's main table that say what they attend to."""
        return {name: entry for name, entry in self.variants(dataset).items() if "saliency" in entry.yields}

    def phrases_have_boxes(self, dataset: str) -> bool:
        """Whether a data set's phrases have true boxes."""
        return self.config.datasets[dataset].phrases_have_boxes

    def first_protocol(self, dataset: str) -> Protocol:
        """The protocol of a data set's main table, for what is shown once for each data set."""
        return next(section.protocol for section in self.table(dataset).sections if section.dataset == dataset)

    def images(self, wildcards: Wildcards) -> list[str]:
        """The image table of each section that measures something."""
        return [f"{self.results}/{section.dataset}/images.parquet" for section in self._measuring(wildcards)]

    def captions(self, wildcards: Wildcards) -> list[str]:
        """The caption table of each section that measures images."""
        of_images = [section for section in self._measuring(wildcards) if section.protocol != REGIONS]
        return [f"{self.results}/{section.dataset}/captions.parquet" for section in of_images]

    def retrievals(self, wildcards: Wildcards) -> list[str]:
        """By section, then variant, then seed: the last round."""
        table = self.table(wildcards.table)
        return [
            self.retrieval(section.dataset, section.protocol, name, seed)
            for section in table.sections
            for name in self._measured(table, section)
            for seed in self.config.datasets[section.dataset].seeds
        ]

    def published(self, wildcards: Wildcards) -> list[str]:
        """The figures of the papers that a table cites."""
        return [self.project.packaged(f"config/published/{paper}.csv") for paper in self._papers(wildcards)]

    def papers(self, wildcards: Wildcards) -> list[str]:
        """What the figures of the same papers were measured with."""
        return [self.project.packaged(f"config/published/{paper}.yaml") for paper in self._papers(wildcards)]

    def settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a table says of its making: no shards and no folders, on which no result depends."""
        table = self.table(wildcards.table)
        sections = [self._section(section, self._measured(table, section)) for section in table.sections]
        return {
            "title": table.title,
            "reference": table.reference,
            "published": [printed.model_dump(mode="json") for printed in table.published],
            "sections": sections,
            "entries": self._entries(sections),
        }

    def tables_of_rounds(self, wildcards: Wildcards) -> list[str]:
        """The image and caption tables of a data set."""
        return [f"{self.results}/{wildcards.dataset}/{name}.parquet" for name in ("images", "captions")]

    def retrievals_of_rounds(self, wildcards: Wildcards) -> list[str]:
        """Every round of the variants that learn correspondences, by variant, then round, then seed."""
        dataset = wildcards.dataset
        return [
            self.retrieval(dataset, self.first_protocol(dataset), name, seed, number)
            for name, entry in self.with_rounds(dataset).items()
            for number in range(entry.last_round + 1)
            for seed in self.dataset(wildcards).seeds
        ]

    def accuracies_of_rounds(self, wildcards: Wildcards) -> list[str]:
        """Where phrases have true boxes, how right each round's correspondences are."""
        if not self.phrases_have_boxes(wildcards.dataset):
            return []
        return [
            f"{self.folder_of_correspondences(wildcards.dataset, name, seed, number)}/correspondence_accuracy.parquet"
            for name, entry in self.with_rounds(wildcards.dataset).items()
            for number in range(1, entry.last_round + 1)
            for seed in self.dataset(wildcards).seeds
        ]

    def settings_of_rounds(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table of rounds says of its making."""
        entries, dataset = self.with_rounds(wildcards.dataset), wildcards.dataset
        section = self._section(Section(dataset=dataset, protocol=self.first_protocol(dataset)), entries)
        return {
            "title": f"{self.title(wildcards)}: what each round gained",
            "rounds": {name: entry.last_round for name, entry in entries.items()},
            "section": section,
            "entries": self._entries([section]),
        }

    def judged(self) -> list[str]:
        """The data sets of which people's judgements are known."""
        return [name for name, dataset in self.config.datasets.items() if dataset.judgements]

    def judgements_source(self, wildcards: Wildcards) -> str:
        """The archive or folder that holds people's judgements."""
        return Datasets(self.project).sources(wildcards)[self.dataset(wildcards).judgements or ""]

    def pair_scores(self, wildcards: Wildcards) -> list[str]:
        """The last round of the variants in a data set's main table, by variant, then seed."""
        return [
            f"{self.folder_of_round('pair_scores', wildcards.dataset, name, seed)}.parquet"
            for name in self.variants(wildcards.dataset)
            for seed in self.dataset(wildcards).seeds
        ]

    def published_agreement(self, wildcards: Wildcards) -> str:
        """The published figures of agreement with people."""
        return self.project.packaged(f"config/published/human/{wildcards.dataset}.csv")

    def settings_of_agreement(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table of agreement with people says of its making."""
        seeds = self.dataset(wildcards).seeds
        measured = {n: {"title": entry.title, "seeds": seeds} for n, entry in self.variants(wildcards.dataset).items()}
        return {"title": self.title(wildcards), "measured": measured}

    def true_regions(self, wildcards: Wildcards) -> str:
        """The features of true boxes by the network of the variant's regions."""
        network = {**self.dataset(wildcards).networks, **self.variant(wildcards).networks}["regions"]
        return f"{self.results}/{wildcards.dataset}/features/{network}/regions-true/test.parquet"

    def retrieval(self, dataset: str, protocol: str, name: str, seed: int, number: int | None = None) -> str:
        """The RETRIEVAL artifact of a variant's round (by default the last one), or of an ensemble."""
        if name in self.config.ensembles():
            return f"{self.results}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/ensemble.parquet"
        kind = "region_ranking" if protocol == REGIONS else f"retrieval/{protocol}"
        return f"{self.folder_of_round(kind, dataset, name, seed, number)}.parquet"

    def _measuring(self, wildcards: Wildcards) -> list[Section]:
        """The sections of a table that measure something."""
        table = self.table(wildcards.table)
        return [section for section in table.sections if self._measured(table, section)]

    def _measured(self, table: Table, section: Section) -> list[str]:
        """The variants that a section measures: none of phrases that have no true boxes."""
        unknown = section.protocol == REGIONS and not self.phrases_have_boxes(section.dataset)
        return [] if unknown else table.measure

    def _papers(self, wildcards: Wildcards) -> list[str]:
        return list(dict.fromkeys(printed.paper for printed in self.table(wildcards.table).published))

    def _section(self, section: Section, measured: Iterable[str]) -> dict[str, Any]:
        return {
            **section.model_dump(mode="json"),
            "title": self.config.datasets[section.dataset].title,
            "measured": {name: self._made_with(name, section.dataset) for name in measured},
        }

    def _made_with(self, name: str, dataset: str) -> dict[str, Any]:
        """Title and seeds of a variant, and what decides its figures; of an ensemble, what decides its members'."""
        entry, ensemble = self.config.datasets[dataset], self.config.ensembles().get(name)
        members = ensemble.members if ensemble else [name]
        found = [self.project.variant(member, dataset) for member in members]
        writers = [self.project.generator(one.generator, dataset) for one in found if one.generator]
        read = self._read(found, dataset)
        concepts = {name for view, name in read.items() if view in CONCEPTS}
        made_of = {name: Features(self.project).backbone(name, dataset) for name in concepts}
        networks = {view: made_of.get(name, name) for view, name in read.items()}
        proposer = entry.proposer if "regions" in networks else None
        structures = {name for one in found for name in one.sentences} | {n for one in writers for n in one.sentences}
        parser = entry.parser if concepts or structures - {"words"} else None
        vectors = entry.word_vectors if any(one.word_vectors for one in found) else None
        return {
            "title": ensemble.title if ensemble else found[0].title,
            "seeds": entry.seeds,
            "networks": networks,
            "concepts": ", ".join(sorted(concepts)) or None,
            "proposer": proposer,
            "parser": parser,
            "word_vectors": vectors,
            "used": {
                "network": sorted({*networks.values(), *concepts}),
                "concept_network": sorted(concepts),
                "proposer": sorted(self._proposers(proposer, concepts)),
                "parser": [self.config.parsers[parser].kind] if parser else [],
                "vectors": [vectors] if vectors else [],
                "minimum_word_count": [str(entry.minimum_word_count)],
            },
            "replaced": self._replaced(dataset, read),
            "training": {} if ensemble else self._training(name, dataset),
            "changed": {} if ensemble else self._changed(name, dataset),
        }

    def _read(self, variants: Iterable[Method], dataset: str) -> dict[View, str]:
        """View -> its network, of variants and of the generators whose sentences these read."""
        entry, read = self.config.datasets[dataset], dict[View, str]()
        for one in variants:
            networks = {**entry.networks, **one.networks}
            views = [described_by(view) for view in one.views if view != WRITTEN]
            read |= {view: networks[view] for view in views}
            writer = self.project.generator(one.generator, dataset) if one.generator else None
            if writer and writer.view:
                read[writer.view] = entry.networks[writer.view]
            elif writer and writer.space:
                read |= self._read([self.project.variant(writer.space, dataset)], dataset)
        return read

    def _training(self, name: str, dataset: str) -> dict[str, Any]:
        """How the model of a variant is trained on a data set, whatever the seed; parameters and phases by round."""
        training = Training(self.project)
        later = [name] * self.project.variant(name, dataset).last_round
        jobs = [
            cast(Wildcards, SimpleNamespace(variant=trainer, dataset=dataset, round=str(number)))
            for number, trainer in enumerate([self.project.trainer_of_round_0(name, dataset), *later])
        ]
        return {
            "method": training.method(jobs[0]),
            "parameters": [training.parameters(job) for job in jobs],
            "sentences": training.sentences(jobs[0]),
            "training": training.training(jobs[0]),
            "phases": [training.phases(job) for job in jobs],
        }

    def _changed(self, name: str, dataset: str) -> dict[str, list[Any]]:
        """What of a variant's settings is changed for a data set: by path, the variant's own value and that there."""
        own, here = (self.project.variant(name, where) for where in (None, dataset))
        return _differences(*(entry.model_dump(mode="json", exclude={"title"}) for entry in (own, here)))

    def _replaced(self, dataset: str, read: Mapping[View, str]) -> dict[str, list[Any]]:
        """What a variant is given that is not what config/datasets says, whose figures are compared with the papers'.

        That is how the data set is read, and the networks of the views that the variant reads (`read`). By path, the
        packaged value and the one here; nothing for a data set of the user's own.
        """
        packaged, here = self.project.packaged_dataset(dataset), self.config.datasets[dataset]
        if packaged is None:
            return {}
        fields = {"reader", "options", "only_available", "networks"}
        found = _differences(*(entry.model_dump(mode="json", include=fields) for entry in (packaged, here)))
        unread = {f"networks.{view}" for view, name in here.networks.items() if read.get(view) != name}
        return {path: values for path, values in found.items() if path not in unread}

    def _entries(self, sections: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """The configuration of what the sections use, by kind and name, with names of files instead of folders."""
        used = [entry["used"] for section in sections for entry in section["measured"].values()]
        kinds = ("network", "concept_network", "proposer")
        names = {kind: sorted({name for one in used for name in one[kind]}) for kind in kinds}
        networks, concepts = self.config.networks, self.config.concept_networks
        return {
            "network": {name: self._network(networks[name]) for name in names["network"] if name in networks},
            "concept_network": {
                name: concepts[name].model_dump(mode="json", include={"train", "learns_from", "seed"})
                for name in names["concept_network"]
            },
            "proposer": {name: self.read_by("propose.py", self.config.proposers[name]) for name in names["proposer"]},
        }

    def _proposers(self, proposer: str | None, concepts: Iterable[str]) -> set[str]:
        """A data set's proposer, those that concept networks look at, and those that these are clustered from."""
        named = {self.config.concept_networks[name].proposer for name in concepts} | ({proposer} if proposer else set())
        options = {name: self.config.proposers[name].options for name in named}
        return {*options, *(found.of for found in options.values() if isinstance(found, Clustered))}

    def _network(self, network: Network) -> dict[str, Any]:
        """What decides a network's features, and where its weights come from, as names of files without folders."""
        origin = {
            "weights": {"file": network.weights.file} if network.weights else None,
            "local": Path(network.local).name if network.local else None,
            "trained_on": network.trained_on,
        }
        return {**self.read_by("extract_regions.py", network), **origin}


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Where nested mappings differ: by path, both values; None where one has none."""
    first, second = dict(_leaves(one)), dict(_leaves(other))
    paths = dict.fromkeys([*first, *second])
    return {path: [first.get(path), second.get(path)] for path in paths if first.get(path) != second.get(path)}


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of nested mappings with its path."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def check_tables(project: Project) -> None:
    """Check config/tables against the rest of the configuration and against config/published, and methods' papers.

    Raises `InputError` that names the path of an unknown data set, variant, paper, printed table or row.
    """
    config = project.config
    rows = read_published(sorted((project.root / "config/published").glob("*.csv")))
    check_names(rows, config.datasets, Protocol.__args__)  # type: ignore[attr-defined]
    for name, method in config.methods.items():
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
    _known(f"{where}.measure: no variants or ensembles", table.measure, [*config.variant_names(), *config.ensembles()])
    if table.reference is not None and table.reference not in table.measure:
        raise InputError(
            f"{where}.reference: {table.reference!r} is not among what is measured: set it to one of {table.measure}, "
            "or to null to compare nothing."
        )


def _check_sections(where: str, table: Table, project: Project) -> None:
    _known(f"{where}.sections: no data set", [section.dataset for section in table.sections], project.config.datasets)
    for section in table.sections:
        if section.protocol == REGIONS:
            _check_phrases(f"{where}.measure", table.measure, section.dataset, project)


def _check_phrases(where: str, measured: list[str], dataset: str, project: Project) -> None:
    """Scores of an ensemble's members are added for whole images and sentences only."""
    for method, entry in project.config.methods.items():
        for name in sorted({method, *entry.variants, *entry.ensembles} & set(measured)):
            if name in entry.ensembles or "phrases" not in project.variant(name, dataset).yields:
                raise InputError(
                    f"{where}: {name} of methods.{method} yields no phrases on {dataset}, which the protocol {REGIONS} "
                    "ranks; measure variants that yield some."
                )


def _check_printed(where: str, paper: str, number: str, methods: list[str], rows: Iterable[PublishedRow]) -> None:
    tables: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        tables.setdefault(row.paper, {}).setdefault(row.table, []).append(row.method)
    _known(f"{where}: no paper", [paper], tables)
    _known(f"{where}: {paper} has no table", [number], tables[paper])
    _known(f"{where}: Table {number} of {paper} has no rows", methods, tables[paper][number])


def _check_titles(config: Config) -> None:
    """Two files that say the same of themselves are a trap."""
    titles = [table.title for table in config.tables.values()]
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        raise InputError(f"tables: more than one table has the title {twice}; rename all but one.")


def _known(what: str, names: Iterable[Any], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(f"{what} {unknown}; known: {sorted(set(known))}")

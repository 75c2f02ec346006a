"""Rows of tables in the plan: their titles, and what each was made with, which its artifacts must confirm."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.config.datasets import Dataset
from densevse.config.given import GivenFiles
from densevse.config.networks import NetworkConfig
from densevse.config.proposers import Clustered, Proposer
from densevse.config.views import STRUCTURES, VIEWS, described_by
from densevse.dag.features import FeatureStage
from densevse.dag.fields import (
    COMPARED_OPTIONS,
    COMPARED_SOURCE,
    NETWORK_FIELDS,
    PREPROCESSING,
    REGION_OPTIONS_FIELDS,
    passed,
)
from densevse.dag.paths import Values
from densevse.dag.project import Stage
from densevse.dag.training import TrainingStage
from densevse.runtime.nested import differences
from densevse.tables.plan import Configured, Difference, MadeWith, MeasuredVariant, SectionPlan, TrainedWith, Weights

_COMPARED_KINDS = ("network", "concept_network", "proposer")
"""Kinds of entries whose configuration a table compares with the lineage of artifacts."""


class RowStage(Stage):
    """The rows of tables: variants after their last round, ensembles of such, and given rows."""

    def measured(self, name: str, dataset: str, seeds: list[int]) -> MeasuredVariant:
        """A variant after its last round, an ensemble of such, or a given row."""
        if name in self.config.given():
            return self._given_row(name, dataset, seeds)
        ensemble = self.config.ensembles().get(name)
        last: Values = {"variant": name, "round": None} if ensemble else self.last_round(dataset, name)
        return MeasuredVariant(
            title=self.title_of(name, dataset),
            seeds=seeds,
            model=last["variant"],
            round=last["round"],
            made_with=self._made_with(name, dataset),
        )

    def title_of(self, name: str, dataset: str) -> str:
        """The title of a variant on a data set, of an ensemble, or of a given row."""
        if name in self.config.given():
            return self.config.given()[name].title or name
        ensemble = self.config.ensembles().get(name)
        return ensemble.title if ensemble else self.project.variant(name, dataset).title

    def reads_concepts(self, name: str, dataset: str) -> bool:
        """True for a variant that reads the scores of a concept network."""
        return bool(self._concept_networks(self._read([name], dataset)))

    def configured(self, sections: list[SectionPlan]) -> Configured:
        """The configuration that the sections use, with names of files without folders."""
        used = [entry.made_with.used for section in sections for entry in section.measured.values()]
        named = {kind: sorted({name for one in used for name in one.get(kind, [])}) for kind in _COMPARED_KINDS}
        networks = {name: self.config.networks[name] for name in named["network"] if name in self.config.networks}
        concepts = {name: self.config.concept_networks[name] for name in named["concept_network"]}
        proposers = {name: self.config.proposers[name] for name in named["proposer"]}
        return Configured(
            networks={name: _weights(network) for name, network in networks.items()},
            settings={
                "network": {name: _network(network) for name, network in networks.items()},
                "concept_network": {
                    name: entry.model_dump(mode="json", include={"train", "learns_from", "seed"})
                    for name, entry in concepts.items()
                },
                "proposer": {name: _proposer(entry) for name, entry in proposers.items()},
            },
        )

    def _given_row(self, name: str, dataset: str, seeds: list[int]) -> MeasuredVariant:
        entry = self.config.given()[name]
        return MeasuredVariant(
            title=self.title_of(name, dataset),
            seeds=seeds,
            model=name,
            round=None,
            made_with=MadeWith(given=_files_and_options(entry.on(dataset)), replaced=self._replaced(dataset, {})),
        )

    def _made_with(self, name: str, dataset: str) -> MadeWith:
        """The settings that decide a variant's metrics; for an ensemble, those of its members."""
        entry, ensemble = self.config.datasets[dataset], self.config.ensembles().get(name)
        members = ensemble.members if ensemble else [name]
        found = [self.project.variant(member, dataset) for member in members]
        writers = [self.project.generator(one.generator, dataset) for one in found if one.generator]
        read = self._read(members, dataset)
        concepts = self._concept_networks(read)
        made_of = {name: FeatureStage(self.project).backbone(dataset, name) for name in concepts}
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

    def _read(self, variants: Iterable[str], dataset: str) -> dict[str, str]:
        """The network of each view of variants, and of the generators whose sentences they read."""
        read: dict[str, str] = {}
        for name in variants:
            entry = self.project.variant(name, dataset)
            views = [described_by(view) for view in entry.views if VIEWS[view].made_by != "generator"]
            read |= {view: self.network_of(name, dataset, view, entry.networks) for view in views}
            writer = self.project.generator(entry.generator, dataset) if entry.generator else None
            if writer and writer.view:
                read[writer.view] = self.network_of(str(entry.generator), dataset, writer.view, {})
            elif writer and writer.joint_embedding:
                read |= self._read([writer.joint_embedding], dataset)
        return read

    def _concept_networks(self, read: Mapping[str, str]) -> set[str]:
        """Those that give the scores of views that are `read`; other scores are given."""
        scores = {name for view, name in read.items() if VIEWS[view].made_by == "concept_network"}
        return scores & self.config.concept_networks.keys()

    def _trained(self, name: str, dataset: str) -> TrainedWith:
        """The training settings of a variant on a data set, without the seed."""
        training, trainer = TrainingStage(self.project), self.project.trainer_of_round_0(name, dataset)
        trained = [trainer, *[name] * self.project.variant(name, dataset).last_round]
        jobs = [training.job(dataset, one, 0, number).settings["job"] for number, one in enumerate(trained)]
        return TrainedWith(
            method=jobs[0]["method"],
            parameters=[job["parameters"] for job in jobs],
            sentences=jobs[0]["sentences"],
            training=jobs[0]["training"],
            phases=[job["phases"] for job in jobs],
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

    def _proposers(self, proposer: str | None, concepts: Iterable[str]) -> set[str]:
        """A data set's proposer, those of concept networks, and those from which these are clustered."""
        named = {self.config.concept_networks[name].proposer for name in concepts} | ({proposer} if proposer else set())
        options = {name: self.config.proposers[name].options for name in named}
        return {*options, *(found.of for found in options.values() if isinstance(found, Clustered))}


def _network(network: NetworkConfig) -> dict[str, Any]:
    """The settings that decide a network's features, as their lineage has them."""
    weights = _weights(network)
    return {
        **passed(network, (*NETWORK_FIELDS, *PREPROCESSING, "options", "layers", "classes", "seed")),
        "regions": passed(network.regions, REGION_OPTIONS_FIELDS),
        "weights": {"file": weights.file} if weights.file else None,
        "local": weights.local,
        "trained_on": weights.trained_on,
    }


def _proposer(proposer: Proposer) -> dict[str, Any]:
    """The settings of a proposer that its boxes' lineage may confirm."""
    return {
        "kind": proposer.kind,
        "options": passed(proposer.options, COMPARED_OPTIONS),
        "source": passed(proposer.source, COMPARED_SOURCE) if proposer.source else None,
    }


def _files_and_options(given: GivenFiles) -> str:
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

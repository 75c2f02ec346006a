"""Rows of tables in the plan: their titles, the settings with which their artifacts must agree, and given files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.config.given import GivenFiles
from densevse.config.networks import NetworkConfig
from densevse.config.proposers import Clustered, Proposer
from densevse.config.registries import STRUCTURES, VIEWS, described_by
from densevse.config.strict import DatasetName, VariantName
from densevse.dag.contents import ABSENT
from densevse.dag.datasets import DatasetStage
from densevse.dag.features import FeatureStage
from densevse.dag.fields import (
    COMPARED_OPTIONS,
    COMPARED_SOURCE,
    LAYOUT,
    NETWORK_FIELDS,
    PREPROCESSING,
    REGION_OPTIONS_FIELDS,
    passed,
)
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage
from densevse.dag.training import TrainingStage
from densevse.report.plan import Configured, Difference, MeasuredVariant, SectionPlan
from densevse.runtime.errors import differences


class RowStage(Stage):
    """The rows of tables: variants after their last round, ensembles of such, and given rows."""

    def measured(self, dataset: DatasetName, name: VariantName, seeds: list[int]) -> MeasuredVariant:
        """A variant after its last round, an ensemble of such, or a given row."""
        members = self._members(name)
        alone = members == [name]
        last: Values = self.last_round(dataset, name) if alone else {"variant": name, "round": None}
        read = self._read(dataset, members)
        return MeasuredVariant(
            title=self.title_of(dataset, name),
            seeds=seeds,
            model=last["variant"],
            round=last["round"],
            used=self._used(dataset, members, read),
            trained=self._trained(dataset, name) if alone else [],
            replaced=self._replaced(dataset, read),
            changed=self._changed(dataset, name) if alone else {},
        )

    def title_of(self, dataset: DatasetName, name: VariantName) -> str:
        """The title of a variant on a data set, of an ensemble, or of a given row."""
        if name in self.config.given():
            return self.config.given()[name].title or name
        ensemble = self.config.ensembles().get(name)
        return ensemble.title if ensemble else self.project.variant(dataset, name).title

    def reads_concepts(self, dataset: DatasetName, name: VariantName) -> bool:
        """True for a variant that reads the scores of a concept network."""
        return bool(self._concept_networks(self._read(dataset, [name])))

    def configured(self, sections: Iterable[SectionPlan]) -> Configured:
        """The expected settings of what the sections use."""
        rows = [row for section in sections for row in section.measured.values()]
        entries: dict[str, Mapping[str, Any]] = {
            "network": {name: self._network(one) for name, one in self.config.networks.items()},
            "concept_network": {
                name: passed(one, ("train", "learns_from", "seed"))
                for name, one in self.config.concept_networks.items()
            },
            "proposer": {name: _proposer(one) for name, one in self.config.proposers.items()},
        }
        used = {kind: {name for row in rows for name in row.used[kind]} for kind in entries}
        found = {kind: {name: of[name] for name in sorted(used[kind] & of.keys())} for kind, of in entries.items()}
        return {**found, "dataset": self._read_or_drawn({section.dataset for section in sections})}

    def _network(self, network: NetworkConfig) -> dict[str, Any]:
        """The settings that decide a network's features, as their lineage has them, and the origin of its weights.

        The user's own weights have the digest of their contents.
        """
        own = network.local if network.local and not network.local.endswith(".caffemodel") else None
        digests = self.project.contents.digests(own) if own else []
        return {
            **passed(network, (*NETWORK_FIELDS, *PREPROCESSING, "options", "layers", "classes", "seed")),
            "regions": passed(network.regions, REGION_OPTIONS_FIELDS),
            "weights": {"file": network.weights.file} if network.weights else None,
            "local": Path(network.local).name if network.local else None,
            "trained_on": None if network.weights else network.trained_on,
            **({"weights_sha256": digests[0]} if digests not in ([], [ABSENT]) else {}),
        }

    def _read_or_drawn(self, datasets: Iterable[DatasetName]) -> dict[str, Mapping[str, Any]]:
        """The reading of data sets, and the draws of those that are resplits, as the lineage of images has them."""
        stage = DatasetStage(self.project)
        drawn = {name: stage.resplit_job(name).settings["draw"] for name in datasets if self.dataset(name).resplit}
        read = {name: stage.images_of(name) for name in datasets}.values()
        own = {name: {**stage.reading(name), "contents": self._own_contents(name)} for name in read}
        return dict(sorted({**own, **drawn}.items()))

    def _own_contents(self, dataset: DatasetName) -> list[str]:
        """The digests of the user's files from which a data set is read, as the job that reads them records them."""
        entry = self.dataset(dataset)
        own = [entry.local[name] for name in self.source_names(dataset) if name in entry.local]
        return self.project.contents.digests(*dict.fromkeys(own))

    def _members(self, name: VariantName) -> list[VariantName]:
        """The variants whose models make a row: itself, those of an ensemble, or none of a given row."""
        ensemble = self.config.ensembles().get(name)
        return [one for one in (ensemble.members if ensemble else [name]) if one not in self.config.given()]

    def _used(
        self, dataset: DatasetName, variants: Iterable[VariantName], read: Mapping[str, str]
    ) -> dict[str, list[str]]:
        """The names that may be among the ancestors of a retrieval by variants that `read` these networks, by kind."""
        entry = self.config.datasets[dataset]
        found = [self.project.variant(dataset, name) for name in variants]
        writers = [self.project.generator(dataset, one.generator) for one in found if one.generator]
        structures = {name for one in found for name in one.sentences} | {n for one in writers for n in one.sentences}
        concepts = self._concept_networks(read)
        networks = {*read.values(), *(FeatureStage(self.project).backbone(dataset, name) for name in concepts)}
        whole_by = {str(entry.features[name].whole_by) for name in networks & entry.features.keys()}
        finds = any(VIEWS[view].of_proposals and name not in entry.features for view, name in read.items())
        parsed = concepts or any(STRUCTURES[name].parsed for name in structures)
        return {
            "network": sorted(networks | whole_by & self.config.networks.keys()),
            "concept_network": sorted(concepts),
            "proposer": sorted(self._proposers(entry.proposer if finds else None, concepts)),
            "parser": [entry.parser] if parsed else [],
            "vectors": [entry.word_vectors] if entry.word_vectors and any(one.word_vectors for one in found) else [],
            "minimum_word_count": [str(entry.minimum_word_count)],
        }

    def _read(self, dataset: DatasetName, variants: Iterable[VariantName]) -> dict[str, str]:
        """The network of each view of variants, and of the generators whose sentences they read."""
        read: dict[str, str] = {}
        for name in variants:
            entry = self.project.variant(dataset, name)
            views = [described_by(view) for view in entry.views if VIEWS[view].made_by != "generator"]
            read |= {view: self.network_of(name, dataset, view, entry.networks) for view in views}
            writer = self.project.generator(dataset, entry.generator) if entry.generator else None
            if writer and writer.view:
                read[writer.view] = self.network_of(str(entry.generator), dataset, writer.view, {})
            elif writer and writer.joint_embedding:
                read |= self._read(dataset, [writer.joint_embedding])
        return read

    def _concept_networks(self, read: Mapping[str, str]) -> set[str]:
        """Those that give the scores of views that are `read`; other scores are given."""
        scores = {name for view, name in read.items() if VIEWS[view].made_by == "concept_network"}
        return scores & self.config.concept_networks.keys()

    def _trained(self, dataset: DatasetName, name: VariantName) -> list[dict[str, Any]]:
        """The settings of the training of each round of a variant, without those that decide no metric or differ."""
        training, trainer = TrainingStage(self.project), self.project.trainer_of_round_0(dataset, name)
        trained = [trainer, *[name] * self.project.variant(dataset, name).last_round]
        jobs = [training.job(dataset, one, 0, number).settings["job"] for number, one in enumerate(trained)]
        return [{key: value for key, value in job.items() if key not in ("seed", "threads")} for job in jobs]

    def _changed(self, dataset: DatasetName, name: VariantName) -> dict[str, Difference]:
        """The settings of a variant that a data set changes, by path."""
        own, here = (self.project.variant(where, name) for where in (None, dataset))
        return _differences(*(entry.model_dump(mode="json", exclude={"title"}) for entry in (own, here)))

    def _replaced(self, dataset: DatasetName, read: Mapping[str, str]) -> dict[str, Difference]:
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


def _proposer(proposer: Proposer) -> dict[str, Any]:
    """The settings of a proposer that its boxes' lineage may confirm."""
    return {
        "kind": proposer.kind,
        "options": passed(proposer.options, COMPARED_OPTIONS),
        "source": passed(proposer.source, COMPARED_SOURCE) if proposer.source else None,
    }


def _differences(own: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Difference]:
    """The differences of nested mappings, by path."""
    return {path: Difference(own=one, here=other) for path, (one, other) in differences(own, here).items()}


class GivenStage(Stage):
    """The rows of config/methods that are given."""

    def file(self, key: str) -> Callable[..., str | None]:
        """The file of a key, such as `scores`, for a seed; None if the row has no such file."""

        def file(dataset: DatasetName, variant: VariantName, seed: int) -> str | None:
            return self._of(dataset, variant).files(seed).get(key)

        return file

    def files(self, dataset: DatasetName, variant: VariantName, seed: int) -> list[str]:
        """All files of a seed."""
        return list(self._of(dataset, variant).files(seed).values())

    def job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The retrieval of a given row: the meaning of its files' rows and columns, and what is ranked."""
        entry = self.dataset(dataset)
        layout = passed(self._of(dataset, variant).layout, LAYOUT)
        return Job({"layout": layout, "ranked_sentences": entry.sentences, "top": entry.top})

    def _of(self, dataset: DatasetName, variant: VariantName) -> GivenFiles:
        return self.config.given()[variant].on(dataset)

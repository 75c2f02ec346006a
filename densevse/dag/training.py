"""Training: what a variant reads on a data set, what decides its training, and the rounds that follow one another."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from densevse.config.generators import Generator
from densevse.config.methods import Method
from densevse.config.networks import CROPS, WRITTEN
from densevse.dag.features import Features
from densevse.dag.inputs import Files, Inputs
from densevse.dag.paths import Values, Wildcards
from densevse.dag.project import Stage
from densevse.runtime.errors import InputError


class Training(Stage):
    """The training of every method, and the inputs of whatever computes with a trained model."""

    def inputs(self, wildcards: Wildcards) -> Files:
        """The artifacts that a variant reads on a data set, by the names that densevse.data.files.Files takes."""
        return self._inputs(wildcards, wildcards.variant)

    def inputs_of_members(self, wildcards: Wildcards) -> Files:
        """The same of all members of an ensemble. Raises `InputError` if two read different artifacts as the same."""
        inputs: Files = {}
        for name in self._members(wildcards.dataset, wildcards.ensemble):
            for key, files in self._inputs(wildcards, name).items():
                if inputs.setdefault(key, files) != files:
                    raise InputError(f"ensembles.{wildcards.ensemble}: {name} reads another {key} than the others.")
        return inputs

    def members(self, dataset: str, ensemble: str, seed: int) -> list[Values]:
        """The last rounds of an ensemble's members, of one seed."""
        return [self.last_round(dataset, name, seed) for name in self._members(dataset, ensemble)]

    def code_of_ensemble(self, dataset: str, ensemble: str) -> str:
        """The code of an ensemble's retrieval."""
        members = self._members(dataset, ensemble).values()
        modules = [module for entry in members for module in modules_of(entry)]
        return self.project.code.digest("retrieve_by_ensemble.py", *dict.fromkeys(modules))

    def _members(self, dataset: str, ensemble: str) -> dict[str, Method]:
        members = self.config.ensembles()[ensemble].members
        return {name: self.project.variant(name, dataset) for name in members}

    def _inputs(self, wildcards: Wildcards, variant: str) -> Files:
        return {
            **self.inputs_of_images(wildcards.dataset, variant),
            **self.inputs_of_sentences(wildcards.dataset, variant),
            **self.written(wildcards, variant),
        }

    def written(self, wildcards: Wildcards, variant: str) -> Files:
        """The sentences that a generator wrote about a data set's images, where a variant reads them."""
        generator = self.project.variant(variant, wildcards.dataset).generator
        if generator is None:
            return {}
        folder = f"{self.results}/{wildcards.dataset}/captions/{generator}/seed{wildcards.seed}"
        return {WRITTEN: [f"{folder}/{split}.parquet" for split in ("train", "val", "test")]}

    def inputs_of_images(self, dataset: str, variant: str) -> Files:
        """What a variant reads of a data set's images, but for sentences about them."""
        entry = self.project.variant(variant, self.seen_as(dataset))
        views = [view for view in entry.views if view != WRITTEN]
        return Inputs(self.project).of_images(variant, dataset, views, entry.networks)

    def inputs_of_sentences(self, dataset: str, variant: str) -> Files:
        """What a variant reads of a data set's sentences, and the vocabularies that it knows them by."""
        entry, known_by = self.project.variant(variant, self.seen_as(dataset)), self.seen_as(dataset)
        inputs = Inputs(self.project).of_sentences(dataset, entry.sentences, entry.dependencies)
        vectors = self.project.datasets[dataset].word_vectors
        if entry.word_vectors and vectors:
            inputs["word_vectors"] = f"{self.results}/{known_by}/vocabulary/vectors-{vectors}.parquet"
        return inputs

    def regions(self, dataset: str, variant: str) -> list[Values]:
        """The shards of the regions that a variant reads, or reads the pixels of."""
        entry = self.dataset(dataset)
        network = {**entry.networks, **self.variant(dataset, variant).networks}["regions"]
        return self.shards(dataset, network=network, proposer=entry.proposer)

    def code_of(self, script: str) -> Callable[..., str]:
        """The code of a script that computes with a variant's method."""

        def code(dataset: str, variant: str) -> str:
            return self.project.code.digest(script, *self.modules(dataset, variant))

        return code

    def modules(self, dataset: str, variant: str) -> list[str]:
        """The modules that a variant's jobs import by name: its method, and the structures that it reads."""
        return modules_of(self.variant(dataset, variant))

    def method(self, dataset: str, variant: str) -> str:
        """The name of a variant's method."""
        return self.variant(dataset, variant).model

    def parameters(self, dataset: str, variant: str) -> dict[str, Any]:
        """The parameters of a variant's method."""
        return self._read(self.variant(dataset, variant).parameters, dataset, variant)

    def sentences(self, dataset: str, variant: str) -> list[str]:
        """The structures of sentences that a variant reads."""
        return list(self.variant(dataset, variant).sentences)

    def training(self, dataset: str, variant: str) -> dict[str, Any]:
        """What holds in all phases of a variant's training."""
        return self._read(self.variant(dataset, variant).training, dataset, variant)

    def phases(self, dataset: str, variant: str, round: int = 0) -> list[dict[str, Any]]:
        """The phases of a round, in order."""
        entry = self.variant(dataset, variant)
        if round > entry.last_round:
            raise InputError(f"{variant} has the rounds 0 to {entry.last_round} on {dataset}, and no round {round}.")
        return [self._read(phase, dataset, variant) for phase in entry.phases_of(round)]

    def _read(self, entry: BaseModel, dataset: str, variant: str) -> dict[str, Any]:
        """What of an entry the training of a variant reads."""
        return self.read_by("train.py", entry, *self.modules(dataset, variant))

    def seed(self, seed: int) -> int:
        """A job's seed."""
        return seed

    def round(self, round: int) -> int:
        """A job's round."""
        return round

    def origin(self, dataset: str, variant: str, seed: int) -> Values | None:
        """The trained variant that a variant's round 0 starts from; most start from nothing."""
        other = self.variant(dataset, variant).starts_from
        return self.last_round(dataset, other, seed) if other else None

    def network(self, dataset: str, variant: str) -> str | Values | None:
        """The first weights of the network that is trained with a variant; most read the features of a fixed one."""
        entry = self.variant(dataset, variant)
        if CROPS not in entry.views:
            return None
        networks = {**self.dataset(dataset).networks, **entry.networks}
        return Features(self.project).weights_of(networks["regions"])

    def round_before(self, dataset: str, variant: str, seed: int, round: int) -> Values:
        """The round that a round goes on from. Raises `ValueError` for round 0, which starts from nothing."""
        if round < 1:
            raise ValueError("round 0 has no round before it")
        return self.round_of(dataset, variant, seed, round - 1)

    def true_boxes(self, dataset: str, variant: str) -> Values | None:
        """Whether true boxes decide what a variant's phrases mean. Raises `InputError` where there are none."""
        if self.variant(dataset, variant).correspondences == "model":
            return None
        if not self.dataset(dataset).phrases_have_boxes:
            raise InputError(
                f"{variant}: true boxes give its correspondences, and phrases of {dataset} have none; "
                f"give some as datasets.{dataset}.boxes, or measure the variant on another data set."
            )
        return {}

    def last_correspondences(self, dataset: str, variant: str) -> Values:
        """The correspondences that the last round of a variant's first seed was trained on."""
        last = self.variant(dataset, variant).last_round
        return self.correspondences_of(dataset, variant, self.first_seed(dataset), last)

    def candidates(self, dataset: str, variant: str) -> str:
        """The regions that a phrase may be assigned: beyond the model itself, all that assigning depends on."""
        return str(self.variant(dataset, variant).parameters.model_dump()["candidates"])


def modules_of(entry: Method | Generator) -> list[str]:
    """What jobs import by name: a method or generator, its structures of sentences, and what reads pixels."""
    model = f"generators.{entry.model}" if isinstance(entry, Generator) else entry.model
    found = [f"densevse.methods.{model}", *(f"densevse.data.structures.{name}" for name in entry.sentences)]
    pixels = isinstance(entry, Method) and CROPS in entry.views
    return [*found, "densevse.data.crops", "densevse.vision.finetuned"] if pixels else found

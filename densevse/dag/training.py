"""Training: what a variant reads on a data set, what decides its training, and the rounds that follow one another."""

from collections.abc import Callable, Iterable
from typing import Any

from densevse.config.declared.views import VIEWS, described_by
from densevse.config.methods import Method
from densevse.dag.features import Features, modules_of_architecture
from densevse.dag.inputs import Files, Inputs
from densevse.dag.project import Stage, Wildcards
from densevse.runtime.errors import InputError


class Training(Stage):
    """The training of every method, and the inputs of whatever computes with a trained model."""

    def inputs(self, wildcards: Wildcards) -> Files:
        """The artifacts that a variant reads on a data set, by the names that densevse.data.files.Files takes."""
        return self._inputs(wildcards, wildcards.variant)

    def inputs_of_members(self, wildcards: Wildcards) -> Files:
        """The same of all members of an ensemble. Raises `InputError` if two read different artifacts as the same."""
        inputs: Files = {}
        for name in self._members(wildcards):
            for key, files in self._inputs(wildcards, name).items():
                if inputs.setdefault(key, files) != files:
                    raise InputError(f"ensembles.{wildcards.ensemble}: {name} reads another {key} than the others.")
        return inputs

    def models_of_members(self, wildcards: Wildcards) -> list[str]:
        """The last models of an ensemble's members, of one seed."""
        return [
            f"{self.folder_of_round('models', wildcards.dataset, name, wildcards.seed)}/model.safetensors"
            for name in self._members(wildcards)
        ]

    def code_of_ensemble(self, wildcards: Wildcards) -> str:
        """The code of an ensemble's retrieval."""
        names = self._members(wildcards)
        modules = [module for name in names for module in self.modules_of(name, wildcards.dataset)]
        return self.project.code.digest("retrieve_by_ensemble.py", *dict.fromkeys(modules))

    def _members(self, wildcards: Wildcards) -> dict[str, Method]:
        members = self.config.ensembles()[wildcards.ensemble].members
        return {name: self.project.variant(name, wildcards.dataset) for name in members}

    def _inputs(self, wildcards: Wildcards, variant: str) -> Files:
        return {
            **self.inputs_of_images(wildcards.dataset, variant),
            **self.inputs_of_sentences(wildcards.dataset, variant),
            **self.written(wildcards, variant),
        }

    def written(self, wildcards: Wildcards, variant: str) -> Files:
        """The sentences that a generator wrote about a data set's images, where a variant reads them."""
        entry = self.project.variant(variant, wildcards.dataset)
        if entry.generator is None:
            return {}
        folder = f"{self.results}/{wildcards.dataset}/captions/{entry.generator}/seed{wildcards.seed}"
        written = [f"{folder}/{split}.parquet" for split in ("train", "val", "test")]
        return {f"view_{view}": written for view in entry.views if VIEWS[view].made_by == "generator"}

    def inputs_of_images(self, dataset: str, variant: str) -> Files:
        """What a variant reads of a data set's images, but for sentences about them."""
        entry = self.project.variant(variant, self.seen_as(dataset))
        views = [view for view in entry.views if VIEWS[view].made_by != "generator"]
        return Inputs(self.project).of_images(variant, dataset, views, entry.networks)

    def inputs_of_sentences(self, dataset: str, variant: str) -> Files:
        """What a variant reads of a data set's sentences, and the vocabularies that it knows them by."""
        entry, known_by = self.project.variant(variant, self.seen_as(dataset)), self.seen_as(dataset)
        inputs = Inputs(self.project).of_sentences(dataset, entry.sentences, entry.dependencies)
        vectors = self.project.datasets[dataset].word_vectors
        if entry.word_vectors and vectors:
            inputs["word_vectors"] = f"{self.results}/{known_by}/vocabulary/vectors-{vectors}.parquet"
        return inputs

    def regions(self, wildcards: Wildcards) -> str | list[str]:
        """The regions that a variant reads."""
        inputs = self.inputs(wildcards)
        views = [view for view in self.variant(wildcards).views if VIEWS[described_by(view)].of_proposals]
        return inputs[f"view_{views[0]}"]

    def code_of(self, script: str) -> Callable[[Wildcards], str]:
        """What tells a job's code: that of a script which computes with a variant's method."""

        def code(wildcards: Wildcards) -> str:
            return self.project.code.digest(script, *self.modules(wildcards))

        return code

    def modules(self, wildcards: Wildcards) -> list[str]:
        """The modules that a variant's jobs import by name."""
        return self.modules_of(wildcards.variant, self.seen_as(wildcards.dataset))

    def modules_of(self, variant: str, dataset: str) -> list[str]:
        """The same: its method, what it reads of sentences and images, and a network that is trained with it."""
        entry = self.project.variant(variant, dataset)
        found = [f"densevse.methods.{entry.model}", *modules_reading(entry.sentences, entry.views)]
        for network in self._trained_networks(entry, dataset):
            architecture = self.config.networks[network].architecture
            found += ["densevse.vision.finetuned", *modules_of_architecture(architecture)]
        return found

    def method(self, wildcards: Wildcards) -> str:
        """The name of a variant's method."""
        return self.variant(wildcards).model

    def parameters(self, wildcards: Wildcards) -> dict[str, Any]:
        """The parameters of a variant's method."""
        return self.read_by("train.py", self.variant(wildcards).parameters, *self.modules(wildcards))

    def sentences(self, wildcards: Wildcards) -> list[str]:
        """The structures of sentences that a variant reads."""
        return list(self.variant(wildcards).sentences)

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """What holds in all phases of a variant's training."""
        return self.read_by("train.py", self.variant(wildcards).training, *self.modules(wildcards))

    def phases(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """The phases of a job's round, in order."""
        entry, number = self.variant(wildcards), self.round(wildcards)
        if number > entry.last_round:
            raise InputError(
                f"{wildcards.variant} has the rounds 0 to {entry.last_round} on {wildcards.dataset}, and no round "
                f"{number}."
            )
        phases = entry.phases_of(number)
        return [self.read_by("train.py", phase, *self.modules(wildcards)) for phase in phases]

    def seed(self, wildcards: Wildcards) -> int:
        """A job's seed."""
        return int(wildcards.seed)

    def round(self, wildcards: Wildcards) -> int:
        """A job's round; rule train has no such wildcard."""
        return int(getattr(wildcards, "round", 0))

    def origin(self, wildcards: Wildcards) -> str | list[str]:
        """The trained model of another variant that a variant's round 0 starts from; most start from nothing."""
        other = self.variant(wildcards).starts_from
        if other is None:
            return []
        return f"{self.folder_of_round('models', wildcards.dataset, other, wildcards.seed)}/model.safetensors"

    def network(self, wildcards: Wildcards) -> list[str]:
        """The first weights of the network that is trained with a variant; most read the features of a fixed one."""
        networks = self._trained_networks(self.variant(wildcards), wildcards.dataset)
        return [Features(self.project).weights_of(name) for name in networks]

    def _trained_networks(self, entry: Method, dataset: str) -> list[str]:
        """The network that is trained with a variant, where it is shown pixels."""
        networks = {**self.project.datasets[dataset].networks, **entry.networks}
        return [networks[described_by(view)] for view in entry.views if VIEWS[view].pixels]

    def start(self, wildcards: Wildcards) -> str:
        """The model that a round starts from. Round 0 starts from nothing: rule train makes it."""
        if int(wildcards.round) < 1:
            raise ValueError("round 0 has no round before it")
        run, before = (wildcards.dataset, wildcards.variant, wildcards.seed), int(wildcards.round) - 1
        return f"{self.folder_of_round('models', *run, before)}/model.safetensors"

    def correspondences(self, wildcards: Wildcards) -> str:
        """The correspondences that a round is trained on."""
        run = (wildcards.dataset, wildcards.variant, wildcards.seed, int(wildcards.round))
        return f"{self.folder_of_correspondences(*run)}/correspondences.parquet"

    def true_boxes(self, wildcards: Wildcards) -> str | list[str]:
        """The boxes that decide what a variant's phrases mean, if they do. Raises `InputError` where there are none."""
        dataset = wildcards.dataset
        if self.variant(wildcards).correspondences == "model":
            return []
        if not self.project.datasets[dataset].phrases_have_boxes:
            raise InputError(
                f"{wildcards.variant}: true boxes give its correspondences, and phrases of {dataset} have none; "
                f"give some as datasets.{dataset}.boxes, or measure the variant on another data set."
            )
        return f"{self.results}/{dataset}/boxes.parquet"

    def last_correspondences(self, wildcards: Wildcards) -> str:
        """The correspondences that the last round of a variant's first seed was trained on."""
        run = (wildcards.dataset, wildcards.variant, None, self.variant(wildcards).last_round)
        return f"{self.folder_of_correspondences(*run)}/correspondences.parquet"

    def embeddings(self, wildcards: Wildcards) -> str:
        """The embeddings of the test split by the last round of a variant's first seed."""
        return f"{self.folder_of_round('embeddings', wildcards.dataset, wildcards.variant)}/test.parquet"

    def saliency(self, wildcards: Wildcards) -> str:
        """What the last round of a variant's first seed attends to in the test split."""
        return f"{self.folder_of_round('saliency', wildcards.dataset, wildcards.variant)}/test.parquet"

    def saliency_of_two(self, wildcards: Wildcards) -> list[str]:
        """The same of a variant and of another one."""
        names = (wildcards.variant, wildcards.other)
        return [f"{self.folder_of_round('saliency', wildcards.dataset, name)}/test.parquet" for name in names]

    def candidates(self, wildcards: Wildcards) -> str:
        """What a phrase may be assigned: beyond the model itself, all that assigning depends on."""
        return str(self.variant(wildcards).parameters.model_dump()["candidates"])


def modules_reading(structures: Iterable[str], views: Iterable[str]) -> list[str]:
    """The modules that a job imports by name to read structures of sentences and views of images."""
    opened_by = dict.fromkeys(VIEWS[view].opened_by for view in views)
    return [
        *(f"densevse.data.structures.{name}" for name in structures),
        *(f"densevse.data.views.{name}" for name in opened_by),
    ]

"""Training in the plan: the inputs, settings and rounds of variants, and of generators, which write sentences."""

from collections.abc import Iterable

from densevse.config.methods import MethodConfig, module_of_method
from densevse.config.networks import NetworkConfig
from densevse.config.registries import VIEWS, feature_view
from densevse.config.values import DatasetName, VariantName
from densevse.dag.features import FeatureStage, modules_of_architecture, trainable_network
from densevse.dag.fields import DECODING, PHASE, TRAINING, dump_entry, dump_fields
from densevse.dag.inputs import InputFiles, InputStage
from densevse.dag.project import Stage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards


class TrainingStage(Stage):
    """The training of every method, and the inputs of all jobs that use a trained model."""

    def inputs(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts that a variant reads on a data set, by the names of densevse.data.files.Files."""
        return self.inputs_of_variant(wildcards, wildcards.variant)

    def inputs_of_variant(self, wildcards: Wildcards, variant: VariantName) -> InputFiles:
        """The same for a variant that is no wildcard, such as a member of an ensemble."""
        return {
            **self.inputs_of_images(wildcards.dataset, variant),
            **self.inputs_of_sentences(wildcards.dataset, variant),
            **self.generated_inputs(wildcards, variant),
        }

    def generated_inputs(self, wildcards: Wildcards, variant: VariantName) -> InputFiles:
        """The sentences of a generator about a data set's images, if a variant reads them."""
        entry = self.project.variant(wildcards.dataset, variant)
        if entry.generator is None:
            return {}
        folder = f"{self.results}/{wildcards.dataset}/generated_captions/{entry.generator}/seed{wildcards.seed}"
        written = [f"{folder}/{split}.parquet" for split in ("train", "val", "test")]
        return {f"view_{view}": written for view in entry.views if VIEWS[view].made_by == "generator"}

    def inputs_of_images(self, dataset: DatasetName, variant: VariantName) -> InputFiles:
        """The inputs of a variant about a data set's images, without generated sentences."""
        entry = self.project.variant(self.training_dataset(dataset), variant)
        views = [view for view in entry.views if VIEWS[view].made_by != "generator"]
        return InputStage(self.project).inputs_of_images(variant, dataset, views, entry.networks)

    def inputs_of_sentences(self, dataset: DatasetName, variant: VariantName) -> InputFiles:
        """The inputs of a variant about a data set's sentences, with its vocabularies."""
        entry, known_by = self.project.variant(self.training_dataset(dataset), variant), self.training_dataset(dataset)
        inputs = InputStage(self.project).inputs_of_sentences(dataset, entry.sentences, entry.dependencies)
        vectors = self.project.datasets[dataset].word_vectors
        if entry.word_vectors and vectors:
            inputs["word_vectors"] = f"{self.results}/{known_by}/vocabulary/vectors-{vectors}.parquet"
        return inputs

    def regions(self, dataset: DatasetName, variant: VariantName) -> list[Values]:
        """The shards of a variant's regions (or of those whose pixels it reads), to compare their boxes.

        Raises `InputError` if regions are given without boxes.
        """
        entry, method = self.dataset(dataset), self.variant(dataset, variant)
        view = next(view for view in map(feature_view, method.views) if VIEWS[view].of_proposals)
        network = self.view_network(variant, dataset, view, method.networks)
        if network in entry.features and not entry.features[network].has_boxes:
            raise InputError(
                f"datasets.{dataset}.features.{network}.regions: these regions have no boxes, so {variant} cannot be "
                "compared with true boxes; give their boxes, or remove the data set's true boxes."
            )
        return FeatureStage(self.project).shards_of_regions(dataset, network)

    def modules(self, dataset: DatasetName, variant: VariantName) -> list[str]:
        """The modules that a variant's jobs import by name.

        These are its method, its structures and views, and a network that is trained with it.
        """
        entry = self.variant(dataset, variant)
        found = [module_of_method(entry.model), *input_modules(entry.sentences, entry.views)]
        if entry.is_untrained:
            found += modules_of_architecture(self.config.networks[entry.networks[entry.views[0]]].architecture)
        for network in self._trained_networks(self.training_dataset(dataset), variant):
            architecture = self.config.networks[network].architecture
            found += ["densevse.vision.finetuned", *modules_of_architecture(architecture)]
        return found

    def untrained_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The model of a variant without training: its network, as its features state it."""
        entry = self.variant(dataset, variant)
        networks = {
            view: {"network": name, **dump_fields(self.config.networks[name], ("architecture", "options"))}
            for view, name in entry.networks.items()
        }
        settings = {"method": entry.model, "parameters": dump_entry(entry.parameters), "networks": networks}
        tokenizer = self._encoder(dataset, variant).tokenizer
        return Job(settings | ({"pad": tokenizer.pad} if tokenizer else {}), self.modules(dataset, variant))

    def untrained_weights(self, dataset: DatasetName, variant: VariantName) -> str | Values:
        """The weights of the network that encodes images and sentences for a variant without training."""
        return FeatureStage(self.project).network_weights(self._name_of_encoder(dataset, variant))

    def tokenizer(self, dataset: DatasetName, variant: VariantName) -> str | Values | None:
        """The file of its tokenizer; None if the library has it."""
        tokenizer = self._encoder(dataset, variant).tokenizer
        if tokenizer is None:
            return None
        network, source = self._name_of_encoder(dataset, variant), tokenizer.source
        return tokenizer.local or {"network": network, "file": source.file if source else ""}

    def _encoder(self, dataset: DatasetName, variant: VariantName) -> NetworkConfig:
        return self.config.networks[self._name_of_encoder(dataset, variant)]

    def _name_of_encoder(self, dataset: DatasetName, variant: VariantName) -> str:
        """The network that encodes images and sentences for a variant without training."""
        (network,) = set(self.variant(dataset, variant).networks.values())
        return network

    def job(self, dataset: DatasetName, variant: VariantName, seed: int, round: int = 0) -> Job:
        """The training of a variant's round, as TrainingJob. Raises `InputError` for a round that it does not have."""
        entry = self.variant(dataset, variant)
        if round > entry.last_round:
            raise InputError(f"{variant} has the rounds 0 to {entry.last_round} on {dataset}, and no round {round}.")
        return self.entry_job(entry, dataset, variant, seed, round)

    def entry_job(
        self, entry: MethodConfig, dataset: DatasetName, variant: VariantName, seed: int, round: int = 0
    ) -> Job:
        """The training of a round with the settings of `entry`, which reads what a variant reads, as TrainingJob."""
        settings = {
            "method": entry.model,
            "parameters": dump_entry(entry.parameters),
            "sentences": list(entry.sentences),
            "training": {} if entry.training == "none" else dump_fields(entry.training, TRAINING),
            "phases": [dump_fields(phase, PHASE) for phase in entry.round_phases(round)],
            "seed": seed,
            "round": round,
            "threads": self.threads(dataset),
        }
        return Job({"job": settings}, self.modules(dataset, variant))

    def model_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """A job that runs a variant's model."""
        return Job({"threads": self.threads(dataset)}, self.modules(dataset, variant))

    def accuracy_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The accuracy of a variant's correspondences, given the option that limits the regions of a phrase."""
        return Job({"candidates": str(dump_entry(self.variant(dataset, variant).parameters)["candidates"])})

    def origin(self, dataset: DatasetName, variant: VariantName, seed: int) -> Values | None:
        """The trained variant from which a variant's round 0 starts; most start from random weights."""
        other = self.variant(dataset, variant).starts_from
        return self.last_round(dataset, other, seed) if other else None

    def network(self, dataset: DatasetName, variant: VariantName) -> list[str | Values]:
        """The first weights of the network that is trained with a variant; most read a fixed one's features."""
        networks = self._trained_networks(dataset, variant)
        return [FeatureStage(self.project).network_weights(name) for name in networks]

    def _trained_networks(self, dataset: DatasetName, variant: VariantName) -> list[str]:
        """The network that is trained with a variant, if it reads pixels."""
        entry = self.variant(dataset, variant)
        pixels = [view for view in entry.views if VIEWS[view].pixels]
        found = [self.view_network(variant, dataset, view, entry.networks) for view in pixels]
        for name in found:
            if name not in self.config.networks:
                raise InputError(
                    f"datasets.{dataset}.features.{name}: no network that could be trained with {entry.title}; name a "
                    "network of config/networks as its networks.regions."
                )
            trainable_network(self.config, name)
        return found

    def previous_round(self, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
        """The round before a round. Raises `ValueError` for round 0."""
        if round < 1:
            raise ValueError("round 0 has no round before it")
        return self.variant_round(dataset, variant, seed, round - 1)

    def true_boxes(self, dataset: DatasetName, variant: VariantName) -> Values | None:
        """An empty mapping, which requests true boxes, if they decide a variant's correspondences; or else None.

        Raises `InputError` if phrases have none.
        """
        if self.variant(dataset, variant).correspondences == "model":
            return None
        if not self.dataset(dataset).phrases_have_boxes:
            raise InputError(
                f"{variant}: true boxes give its correspondences, and phrases of {dataset} have none; "
                f"give some as datasets.{dataset}.boxes, or measure the variant on another data set."
            )
        return {}

    def last_correspondences(self, dataset: DatasetName, variant: VariantName) -> Values:
        """The correspondences on which the last round of a variant's first seed was trained."""
        last = self.variant(dataset, variant).last_round
        return self.round_correspondences(dataset, variant, self.first_seed(dataset), last)


def input_modules(structures: Iterable[str], views: Iterable[str]) -> list[str]:
    """The modules that a job imports by name to read structures of sentences and views of images."""
    opened_by = dict.fromkeys(VIEWS[view].opened_by for view in views)
    return [
        *(f"densevse.data.structures.{name}" for name in structures),
        *(f"densevse.data.views.{name}" for name in opened_by),
    ]


class GeneratorStage(Stage):
    """The generators of config/generators, each trained on every data set that uses it."""

    def inputs_of_training(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts on which a generator is trained, by the names of densevse.data.files.Files."""
        return self._inputs(wildcards.dataset, wildcards.generator, wildcards.seed, ["train", "val"])

    def inputs_of_captions(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts from which sentences about a split's images are written, besides the generator."""
        dataset, seed = wildcards.dataset, wildcards.seed
        inputs = self._inputs(dataset, wildcards.generator, seed, [wildcards.split])
        space = self.project.generator(dataset, wildcards.generator).joint_embedding
        if space:
            folder = self.artifact_folder("models", dataset, self.last_round(dataset, space, int(seed)))
            inputs["joint_embedding"] = f"{folder}/model.safetensors"
        return inputs

    def job(self, dataset: DatasetName, generator: str, seed: int) -> Job:
        """The training of a generator, as TrainingJob."""
        entry = self.project.generator(dataset, generator)
        settings = {
            "method": f"generators.{entry.model}",
            "parameters": dump_entry(entry.parameters),
            "sentences": list(entry.sentences),
            "training": dump_fields(entry.training, TRAINING),
            "phases": [dump_fields(phase, PHASE) for phase in entry.named_phases()],
            "seed": seed,
            "threads": self.threads(dataset),
        }
        return Job({"job": settings}, self._modules(dataset, generator))

    def captions_job(self, dataset: DatasetName, generator: str, seed: int) -> Job:
        """The writing and ranking of a generator's sentences, as CaptionJob."""
        entry, modules = self.project.generator(dataset, generator), self._modules(dataset, generator)
        if entry.joint_embedding:
            modules += [module_of_method(self.project.variant(dataset, entry.joint_embedding).model)]
        settings = {"decoding": dump_fields(entry.decoding, DECODING), "seed": seed, "threads": self.threads(dataset)}
        return Job({"job": settings}, modules)

    def _modules(self, dataset: DatasetName, generator: str) -> list[str]:
        entry = self.project.generator(dataset, generator)
        views = [] if entry.view is None else [entry.view]
        return [f"densevse.methods.generators.{entry.model}", *input_modules(entry.sentences, views)]

    def _inputs(self, dataset: DatasetName, generator: str, seed: str, splits: list[str]) -> InputFiles:
        entry, inputs = self.project.generator(dataset, generator), InputStage(self.project)
        views = [] if entry.view is None else [entry.view]
        read = inputs.inputs_of_images(generator, dataset, views, {})
        read |= inputs.inputs_of_sentences(dataset, entry.sentences)
        if entry.joint_embedding:
            embeddings = self.artifact_folder(
                "embeddings", dataset, self.last_round(dataset, entry.joint_embedding, int(seed))
            )
            read |= {f"joint_embedding_{split}": f"{embeddings}/{split}.parquet" for split in splits}
        return read

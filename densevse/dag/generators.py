"""Generators in the plan: their inputs on a data set, their training and decoding, and their sentences."""

from typing import Any

from densevse.config.generators import GeneratorConfig
from densevse.dag.inputs import InputFiles, InputStage
from densevse.dag.paths import Wildcards
from densevse.dag.project import Stage, any_of
from densevse.dag.training import modules_reading


class GeneratorStage(Stage):
    """The generators of config/generators, each trained on every data set that uses it."""

    def names(self) -> str:
        """Every generator and variant."""
        return any_of(self.config.generator_names())

    def entry(self, dataset: str, generator: str) -> GeneratorConfig:
        """A generator's settings on a data set."""
        return self.project.generator(generator, dataset)

    def inputs_of_training(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts on which a generator is trained, by the names of densevse.data.files.Files."""
        return self._inputs(wildcards.dataset, wildcards.generator, wildcards.seed, ["train", "val"])

    def inputs_of_captions(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts from which sentences about a split's images are written, besides the generator."""
        dataset, seed = wildcards.dataset, wildcards.seed
        inputs = self._inputs(dataset, wildcards.generator, seed, [wildcards.split])
        space = self.entry(dataset, wildcards.generator).joint_embedding
        if space:
            folder = self.folder_of("models", dataset, self.last_round(dataset, space, int(seed)))
            inputs["joint_embedding"] = f"{folder}/model.safetensors"
        return inputs

    def code(self, dataset: str, generator: str) -> str:
        """The code of a generator's training."""
        return self.project.code.digest("train_generator.py", *self._modules(dataset, generator))

    def code_of_captions(self, dataset: str, generator: str, script: str = "generate_captions.py") -> str:
        """The code of a `script` that writes sentences."""
        space, modules = self.entry(dataset, generator).joint_embedding, self._modules(dataset, generator)
        modules += [f"densevse.methods.{self.project.variant(space, dataset).model}"] if space else []
        return self.project.code.digest(script, *modules)

    def model(self, dataset: str, generator: str) -> str:
        """The name of a generator's module below densevse/methods."""
        return f"generators.{self.entry(dataset, generator).model}"

    def parameters(self, dataset: str, generator: str) -> dict[str, Any]:
        """The parameters of a generator."""
        modules = self._modules(dataset, generator)
        return self.read_by("train_generator.py", self.entry(dataset, generator).parameters, *modules)

    def sentences(self, dataset: str, generator: str) -> list[str]:
        """The structures of sentences that a generator reads."""
        return list(self.entry(dataset, generator).sentences)

    def training(self, dataset: str, generator: str) -> dict[str, Any]:
        """The settings of all phases of a generator's training."""
        modules = self._modules(dataset, generator)
        return self.read_by("train_generator.py", self.entry(dataset, generator).training, *modules)

    def phases(self, dataset: str, generator: str) -> list[dict[str, Any]]:
        """The phases of a generator's training, in order."""
        modules = self._modules(dataset, generator)
        phases = self.entry(dataset, generator).named_phases()
        return [self.read_by("train_generator.py", phase, *modules) for phase in phases]

    def decoding(self, dataset: str, generator: str) -> dict[str, Any]:
        """The settings of writing and ranking a generator's sentences."""
        return self.read_by("generate_captions.py", self.entry(dataset, generator).decoding)

    def _modules(self, dataset: str, generator: str) -> list[str]:
        entry = self.entry(dataset, generator)
        views = [] if entry.view is None else [entry.view]
        return [f"densevse.methods.generators.{entry.model}", *modules_reading(entry.sentences, views)]

    def _inputs(self, dataset: str, generator: str, seed: str, splits: list[str]) -> InputFiles:
        entry, inputs = self.entry(dataset, generator), InputStage(self.project)
        views = [] if entry.view is None else [entry.view]
        read = inputs.of_images(generator, dataset, views, {})
        read |= inputs.of_sentences(dataset, entry.sentences)
        if entry.joint_embedding:
            embeddings = self.folder_of(
                "embeddings", dataset, self.last_round(dataset, entry.joint_embedding, int(seed))
            )
            read |= {f"joint_embedding_{split}": f"{embeddings}/{split}.parquet" for split in splits}
        return read
